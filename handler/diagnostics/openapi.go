package diagnostics

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

const (
	openAPIPath   = "/openapi.yaml"
	analyticsPath = "/internal/v1/analytics/namespaces/{namespace_key}/flags/{flag_key}"
)

// OpenAPI returns the route of the description of the API, which is given compressed.
// required states that credentials are required.
func OpenAPI(compressed []byte, required bool) exchange.Plain {
	description := sync.OnceValues(func() ([]byte, error) {
		r, err := gzip.NewReader(bytes.NewReader(compressed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	})
	return exchange.Plain{Method: http.MethodGet, Pattern: openAPIPath, AnyHost: required, Serve: func(x *exchange.Exchange) {
		text, err := description()
		if err != nil {
			x.ReplyError(err)
			return
		}
		x.Reply(http.StatusOK, "application/yaml", text)
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
