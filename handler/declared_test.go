package handler_test

import (
	"encoding/json"
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

// maxConforming is the longest body that is compared with its schema, in bytes.
const maxConforming = 64 << 10

// description is openapi.yaml.
var description = sync.OnceValues(func() (document map[string]any, err error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	err = yaml.Unmarshal(text, &document)
	return document, err
})

// checkDeclared checks that openapi.yaml declares the status and the body of a response, if
// it describes the operation. A front of AWS Lambda has some responses of its own, so behind
// one nothing is checked.
func checkDeclared(t testing.TB, request *http.Request, r reply) {
	t.Helper()
	if os.Getenv(frontVariable) != "" {
		return
	}
	document, err := description()
	if err != nil {
		t.Fatal(err)
	}
	responses := declaredFor(document, request)
	if responses == nil {
		return
	}
	response, ok := responses[strconv.Itoa(r.status)]
	if !ok {
		if r.status < 300 || slices.Contains(declarable, r.status) {
			t.Errorf("openapi.yaml does not declare %d for %s %s", r.status, request.Method, request.URL.Path)
		}
		response = responses["default"]
	}
	s := schema{document}
	media := member(member(s.resolve(response), "content"), "application/json")
	if media == nil || r.header.Get("Content-Type") != "application/json" || r.header.Get("Content-Encoding") != "" ||
		len(r.body) > maxConforming || isPretty(request) {
		return
	}
	var body any
	if err := json.Unmarshal([]byte(r.body), &body); err != nil {
		t.Errorf("%s %s: %v in %s", request.Method, request.URL.Path, err, r.body)
		return
	}
	if problem := s.check(member(media, "schema"), body, ""); problem != "" {
		t.Errorf("%s %s: status %d is not as in openapi.yaml: %s: %s", request.Method, request.URL.Path, r.status, problem, r.body)
	}
}

// isPretty reports whether the response omits zero values, which the schemas require.
func isPretty(request *http.Request) bool {
	return request.URL.Query().Has("pretty") || strings.Contains(request.Header.Get("Accept"), "pretty")
}

// declaredFor returns the responses that are declared for the request: those of the path with
// the fewest variables that it matches.
func declaredFor(document map[string]any, request *http.Request) (responses map[string]any) {
	segments := strings.Split(strings.TrimSuffix(request.URL.Path, "/"), "/")
	fewest := len(segments) + 1
	for path, item := range document["paths"].(map[string]any) {
		operation := member(item, strings.ToLower(request.Method))
		if variables := variablesOf(path, segments); variables >= 0 && variables < fewest && operation != nil {
			fewest, responses = variables, member(operation, "responses").(map[string]any)
		}
	}
	return responses
}

// variablesOf returns how many segments are values of variables of the path, or -1 if they
// are of another one.
func variablesOf(path string, segments []string) (variables int) {
	declared := strings.Split(path, "/")
	if len(segments) != len(declared) {
		return -1
	}
	for i, segment := range declared {
		switch {
		case strings.HasPrefix(segment, "{"):
			variables++
		case segment != segments[i]:
			return -1
		}
	}
	return variables
}
