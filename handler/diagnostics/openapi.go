package diagnostics

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/exchange"
)

const openAPIPath = "/openapi.yaml"

// OpenAPI returns the route of the description of the API. required states that credentials
// are required.
func OpenAPI(description []byte, required bool) exchange.Plain {
	return exchange.Plain{Method: http.MethodGet, Pattern: openAPIPath, AnyHost: required, Serve: func(x *exchange.Exchange) {
		x.Reply(http.StatusOK, "application/yaml", description)
	}}
}

// EventSchema returns the route of the JSON schema of what webhooks send, which is not secret.
func EventSchema(schema []byte, required bool) exchange.Plain {
	return exchange.Plain{Method: http.MethodGet, Pattern: "/schemas/event.json", AnyHost: required, Serve: func(x *exchange.Exchange) {
		x.Reply(http.StatusOK, "application/schema+json", schema)
	}}
}
