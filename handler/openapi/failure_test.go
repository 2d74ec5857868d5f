package openapi

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// failure is a kind of errors: a status.
type failure struct {
	status      int    // 0 for all that are not declared
	name        string // of the response
	description string
	headers     []string // of the response, besides the usual ones
	code        int      // an example
	message     string
	ofrep       ofrepError
}

// ofrepError is the example of an error as OFREP has it, unless the code is empty. An empty
// message stands for that of the failure.
type ofrepError struct{ code, message string }

// failures are the errors that operations declare, by status.
var failures = []failure{
	{
		http.StatusBadRequest, "BadRequest", "The request breaks a rule. The message names the field and the rule.",
		nil, 3, "invalid field name: must not be empty", ofrepError{"INVALID_CONTEXT", "invalid field context: must be an object"},
	},
	{
		http.StatusUnauthorized, "Unauthenticated", "There is no credential, or one that is not valid for this request.",
		[]string{"WWW-Authenticate"}, 16, "request was not authenticated", ofrepError{code: "GENERAL"},
	},
	{
		http.StatusForbidden, "Forbidden", "The credential is valid, but its roles do not suffice. Also if the server is read-only, or if the page or host of the request is not trusted.",
		nil, 7, `permission denied: needs editor on namespace "default"`, ofrepError{"GENERAL", `permission denied: needs evaluator on namespace "default"`},
	},
	{
		http.StatusNotFound, "NotFound", "Something that the request names does not exist, or the operation is not enabled.",
		nil, 5, `flag "default/nope" not found`, ofrepError{"FLAG_NOT_FOUND", `flag "default/new-checkout" not found`},
	},
	{
		http.StatusPreconditionFailed, "PreconditionFailed", "What the request depends on is no longer so, such as the revision in If-Match. Nothing was changed.",
		[]string{"Guidon-Revision"}, 9, `namespace "default" is at revision 5, not 1`, ofrepError{},
	},
	{
		http.StatusRequestEntityTooLarge, "TooLarge", "The request, or its response, would exceed a limit.",
		nil, 8, "the request body exceeds 4194304 bytes", ofrepError{"GENERAL", "the request body exceeds 1048576 bytes"},
	},
	{
		http.StatusTooManyRequests, "Limited", "Too many requests with this credential, or with invalid ones.",
		[]string{"Retry-After"}, 8, "too many requests with this credential; try again later", ofrepError{code: "GENERAL"},
	},
	{
		http.StatusServiceUnavailable, "Unavailable", "The database or the service itself is too busy or cannot be reached, or the revision in Guidon-Min-Revision has not appeared. Try again later.",
		[]string{"Retry-After", "Guidon-Revision"}, 14, "the service is overloaded: requests wait for 10s; try again later", ofrepError{code: "GENERAL"},
	},
	{0, "Error", "Any other error.", nil, 13, "internal error", ofrepError{code: "GENERAL"}},
}

// key returns the key of the response: the status, or default.
func (f failure) key() string {
	if f.status == 0 {
		return "default"
	}
	return strconv.Itoa(f.status)
}

// canFail reports whether a request for the route can fail with the status.
func canFail(o *call.Operation, route call.Route, status int) bool {
	role, _, _ := o.Needs()
	identified := o.Area != call.AreaPublic || o.Changes()
	switch status {
	case http.StatusUnauthorized, http.StatusTooManyRequests:
		return identified
	case http.StatusForbidden:
		return identified || role != service.RoleUnset
	case http.StatusNotFound:
		return canMiss(o, route)
	case http.StatusPreconditionFailed:
		return o.Has(call.Writes) || o.Name == "/guidon.v1.CompareService/Compare" // whose pages are of one revision
	case http.StatusRequestEntityTooLarge:
		return o.HasMessages() && o.HasBody(route) || o.Has(call.Versioned) || o.Area == call.AreaOFREP && route.Method == http.MethodPost
	}
	return true
}

// canMiss reports whether something that a request names may not exist: an object, a
// revision or, if it is not always enabled, the operation itself.
func canMiss(o *call.Operation, route call.Route) bool {
	switch {
	case o.Name == "/flipt.Flipt/CreateNamespace" || o.Name == "/ofrep/v1/configuration":
		return false
	case !o.Enabled(), variable.MatchString(route.Pattern):
		return true
	}
	return ofNamespace(o) && !ofNone(o) || o.Area == call.AreaOFREP
}

// errorsOf adds the errors with which a request for the route can fail.
func errorsOf(all object, o *call.Operation, route call.Route) object {
	prefix := ""
	if o.Area == call.AreaOFREP {
		prefix = "OFREP"
	}
	for _, f := range failures {
		if f.status == 0 || canFail(o, route, f.status) {
			all = all.with(f.key(), object{{"$ref", "#/components/responses/" + prefix + f.name}})
		}
	}
	return all
}

// errorResponses are the components of errors.
func errorResponses() object {
	var all object
	for _, f := range failures {
		example := object{{"code", f.code}, {"message", f.message}, {"details", []any{}}}
		all = all.with(f.name, f.response("Error", f.headers, example))
	}
	for _, f := range failures {
		if f.ofrep.code == "" {
			continue
		}
		example := object{{"key", "new-checkout"}, {"errorCode", f.ofrep.code}, {"errorDetails", cmp.Or(f.ofrep.message, f.message)}}
		var headers []string
		for _, name := range f.headers {
			if name == "Retry-After" {
				headers = append(headers, name)
			}
		}
		all = all.with("OFREP"+f.name, f.response("OFREPError", headers, example))
	}
	return all
}

func (f failure) response(schema string, names []string, example object) object {
	headers := object{{"X-Request-Id", headerRef("RequestId")}}
	for _, name := range names {
		headers = headers.with(name, headerRef(headerComponents[name]))
	}
	return object{
		{"description", f.description},
		{"headers", headers},
		{"content", object{{"application/json", object{{"schema", schemaRef(schema)}, {"example", example}}}}},
	}
}

// headerComponents are the names of the components of headers.
var headerComponents = map[string]string{
	"Guidon-Revision": "GuidonRevision", "Retry-After": "RetryAfter", "WWW-Authenticate": "WWWAuthenticate",
}

func headerRef(component string) object {
	return object{{"$ref", "#/components/headers/" + component}}
}
