package webtest

import (
	"net/http"
	"net/http/httptest"
)

// Request returns a request of the visitor for a page, which may be sent several times.
// Headers are names and values in turn.
func (s *Server) Request(target string, headers ...string) *http.Request {
	request := httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://flags.test"+target, nil)
	if s.session != "" {
		request.AddCookie(&http.Cookie{Name: "service_client_token", Value: s.session}) // #nosec G124 -- of a request
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	return request
}
