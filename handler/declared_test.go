package handler_test

import (
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// declarable are the statuses of errors that openapi.yaml declares for each operation that can
// have them. Its default responses stand for the others.
var declarable = []int{
	http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
	http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusTooManyRequests, http.StatusServiceUnavailable,
}

// declaration is what openapi.yaml declares of a path: the statuses by method.
type declaration struct {
	segments []string
	statuses map[string]map[string]any
}

var declarations = sync.OnceValues(func() (all []declaration, err error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	var document struct {
		Paths map[string]map[string]struct{ Responses map[string]any }
	}
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	for path, item := range document.Paths {
		d := declaration{segments: strings.Split(path, "/"), statuses: make(map[string]map[string]any)}
		for method, operation := range item {
			d.statuses[strings.ToUpper(method)] = operation.Responses
		}
		all = append(all, d)
	}
	return all, nil
})

// checkDeclared checks that openapi.yaml declares the status of the response, if it describes
// the operation.
func checkDeclared(t testing.TB, request *http.Request, status int) {
	t.Helper()
	all, err := declarations()
	if err != nil {
		t.Fatal(err)
	}
	statuses := declaredFor(all, request)
	if statuses == nil || status >= 300 && !slices.Contains(declarable, status) {
		return
	}
	if _, ok := statuses[strconv.Itoa(status)]; !ok {
		t.Errorf("openapi.yaml does not declare %d for %s %s", status, request.Method, request.URL.Path)
	}
}

// declaredFor returns the statuses that are declared for the request: those of the path with
// the fewest variables that it matches.
func declaredFor(all []declaration, request *http.Request) (statuses map[string]any) {
	segments := strings.Split(strings.TrimSuffix(request.URL.Path, "/"), "/")
	fewest := len(segments) + 1
	for _, d := range all {
		if variables := d.match(segments); variables >= 0 && variables < fewest && d.statuses[request.Method] != nil {
			fewest, statuses = variables, d.statuses[request.Method]
		}
	}
	return statuses
}

// match returns how many segments are values of variables, or -1 if the path is another one.
func (d declaration) match(segments []string) (variables int) {
	if len(segments) != len(d.segments) {
		return -1
	}
	for i, segment := range d.segments {
		switch {
		case strings.HasPrefix(segment, "{"):
			variables++
		case segment != segments[i]:
			return -1
		}
	}
	return variables
}
