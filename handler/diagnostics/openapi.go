package diagnostics

import (
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

const (
	openAPIPath   = "/openapi.yaml"
	analyticsPath = "/internal/v1/analytics/namespaces/{namespace_key}/flags/{flag_key}"
)

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

// Analytics returns the route that reports that analytics is disabled, to callers with
// access to it (operations 1.2).
func Analytics(required bool) exchange.Plain {
	return exchange.Plain{Method: http.MethodGet, Pattern: analyticsPath, AnyHost: required, Serve: func(x *exchange.Exchange) {
		if required {
			if err := require(x, service.RoleViewer, x.PathVariable("namespace_key")); err != nil {
				x.ReplyError(err)
				return
			}
		}
		x.ReplyError(guidon.Errorf(guidon.Unimplemented, "analytics is disabled"))
	}}
}
