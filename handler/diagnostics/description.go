package diagnostics

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/exchange"
)

// Description returns the route of a description of the API, which is not secret. required states
// that credentials are required.
func Description(pattern, contentType string, body []byte, required bool) exchange.Plain {
	return exchange.Plain{Method: http.MethodGet, Pattern: pattern, AnyHost: required, Serve: func(x *exchange.Exchange) {
		x.Reply(http.StatusOK, contentType, body)
	}}
}
