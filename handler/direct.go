package handler

import (
	"net/http"
	"strings"
)

// serveFunc serves a request.
type serveFunc func(x *exchange)

// fastRoutes are the hot routes, which need no search by chi: those without variables,
// and the flags of OFREP. They are registered with chi too, which also matches all other
// spellings of a path (contract 1.5).
type fastRoutes struct {
	exact map[Route]serveFunc
	flag  serveFunc
}

// find returns the route of the request, or nil.
func (f *fastRoutes) find(r *http.Request) serveFunc {
	if serve := f.exact[Route{r.Method, r.URL.Path}]; serve != nil {
		return serve
	}
	key, ok := strings.CutPrefix(r.URL.Path, ofrepFlags+"/")
	if ok && r.Method == post && key != "" && !strings.Contains(key, "/") {
		return f.flag
	}
	return nil
}
