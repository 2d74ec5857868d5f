package webtest

import "net/http/httptest"

// Listen serves the service to programs until the test ends, and returns its address.
func (s *Server) Listen() string {
	server := httptest.NewServer(s.handler)
	s.t.Cleanup(server.Close)
	return server.URL
}
