package handler

import (
	"net/http"
	"strings"
)

// serveFunc answers a request.
type serveFunc func(x *exchange)

// fastRoutes are the routes that need no search: those without variables, and
// the flags of OFREP. They are what is asked for all the time. Whatever else a
// path may look like (contract 1.5) is found by chi, which has these as well.
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
