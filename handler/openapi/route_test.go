package openapi

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler/call"
)

// route is one HTTP route of an operation.
type route struct {
	call.Route
	operation *call.Operation
	alias     bool // an older path to the same operation
	request   protoreflect.MessageDescriptor
	example   Example
}

func newRoute(o *call.Operation, r call.Route, alias bool, example Example) route {
	return route{Route: r, operation: o, alias: alias, request: o.NewRequest().ProtoReflect().Descriptor(), example: example}
}

var variable = regexp.MustCompile(`\{([^}]*)\}`)

// path returns the pattern with the variables spelled like the JSON fields.
func (r route) path() string {
	return variable.ReplaceAllStringFunc(r.Pattern, func(braced string) string {
		if field := r.field(strings.Trim(braced, "{}")); field != nil {
			return "{" + field.JSONName() + "}"
		}
		return braced
	})
}

func (r route) field(name string) protoreflect.FieldDescriptor {
	return r.request.Fields().ByTextName(name)
}

// describe returns the operation object of the route.
func (r route) describe(s *schemas) (object, error) {
	text, err := textOf(r.operation, r.alias)
	if err != nil {
		return nil, err
	}
	item := append(object{{"tags", []any{r.operation.Service()}}}, text...)
	if r.alias {
		item = item.with("deprecated", true)
	}
	if r.operation.Area == call.AreaPublic {
		item = item.with("security", []any{object{}})
	}
	parameters, err := r.parameters(s)
	if err != nil {
		return nil, err
	}
	if len(parameters) > 0 {
		item = item.with("parameters", parameters)
	}
	if r.operation.HasBody(r.Route) {
		item = item.with("requestBody", r.body(s))
	}
	return item.with("responses", r.responses(s)), nil
}

// body returns the request body. Its example leaves out what is in the path.
func (r route) body(s *schemas) object {
	if r.request.FullName() == "flipt.auth.RevokeRequest" {
		return logoutBody(r.example.body(r.inPath(), r.request))
	}
	media := object{{"schema", s.message(r.request)}}
	if len(r.example.Request) > 0 {
		media = media.with("example", r.example.body(r.inPath(), r.request))
	}
	body := object{{"content", object{{"application/json", media}}}}
	if len(s.required(r.request)) > 0 {
		body = body.with("required", true)
	}
	return body
}

// logoutBody is the body that a provider sends, which is a form (OpenID Connect Back-Channel
// Logout 1.0 2.5).
func logoutBody(example object) object {
	media := object{
		{"schema", object{
			{"type", "object"},
			{"properties", object{{"logout_token", textSchema("The logout token, which the provider has signed.")}}},
			{"required", []any{"logout_token"}},
		}},
		{"example", example},
	}
	return object{{"content", object{{"application/x-www-form-urlencoded", media}}}, {"required", true}}
}

// inPath returns the fields that are variables of the path.
func (r route) inPath() map[protoreflect.FieldNumber]bool {
	fields := make(map[protoreflect.FieldNumber]bool)
	for _, match := range variable.FindAllStringSubmatch(r.Pattern, -1) {
		if field := r.field(match[1]); field != nil {
			fields[field.Number()] = true
		}
	}
	return fields
}

// parameters returns the path variables, then the rest of the request if it is in the
// query, then the headers.
func (r route) parameters(s *schemas) ([]any, error) {
	var all []any
	for _, match := range variable.FindAllStringSubmatch(r.Pattern, -1) {
		field := r.field(match[1])
		if field == nil {
			return nil, fmt.Errorf("%s has no field %q", r.request.FullName(), match[1])
		}
		all = append(all, r.parameter(s, field, object{{"name", field.JSONName()}, {"in", "path"}, {"required", true}}))
	}
	if !r.operation.HasBody(r.Route) && !isSpecial(r.request) {
		all = append(all, r.queryParameters(s)...)
	}
	return append(all, r.headerParameters()...), nil
}

func (r route) queryParameters(s *schemas) []any {
	var all []any
	inPath, required := r.inPath(), s.required(r.request)
	for i := range r.request.Fields().Len() {
		field := r.request.Fields().Get(i)
		if inPath[field.Number()] {
			continue
		}
		parameter := object{{"name", field.JSONName()}, {"in", "query"}}
		if slices.Contains(required, any(field.JSONName())) {
			parameter = parameter.with("required", true)
		}
		if isDeprecated(field) {
			parameter = parameter.with("deprecated", true)
		}
		all = append(all, r.parameter(s, field, parameter))
	}
	return all
}

// parameter adds the description, the schema and the example of the field. The key of a
// namespace may be a reference to a state, where states can be read.
func (r route) parameter(s *schemas, field protoreflect.FieldDescriptor, parameter object) object {
	description := s.describe(field)
	if r.operation.Has(call.ReadsStates) && field == call.NamespaceField(r.request) {
		description = referenceText
	}
	schema := s.single(field)
	if field.IsList() {
		schema = object{{"type", "array"}, {"items", schema}}
	}
	parameter = parameter.with("description", description).with("schema", schema)
	if example := r.example.member(field.JSONName()); example != nil {
		parameter = parameter.with("example", example)
	}
	return parameter
}

func (r route) headerParameters() []any {
	var names []string
	if r.operation.Has(call.Writes) {
		names = append(names, "IfMatch")
	}
	if r.operation.TakesMessage() {
		names = append(names, "Message", "DryRun")
	}
	if ofNamespace(r.operation) && !r.operation.Has(call.Writes) && !ofNone(r.operation) {
		names = append(names, "MinRevision", "CacheControl")
	}
	if r.operation.Has(call.ReadsStates) || r.operation.Has(call.Versioned) {
		names = append(names, "IfNoneMatch")
	}
	if r.operation.Has(call.Versioned) {
		names = append(names, "ClientVersion")
	}
	all := make([]any, len(names))
	for i, name := range names {
		all[i] = parameterRef(name)
	}
	return all
}

func parameterRef(component string) object {
	return object{{"$ref", "#/components/parameters/" + component}}
}

// ofNone reports whether the operation is about no particular namespace, and so has no
// revision.
func ofNone(o *call.Operation) bool {
	return slices.Contains([]string{
		"/flipt.Flipt/ListNamespaces", "/guidon.v1.CatalogService/Search", "/guidon.v1.CatalogService/ListFlagNamespaces",
		"/guidon.v1.ChangeService/ListAllChanges",
	}, o.Name)
}

// ofNamespace reports whether the operation is about namespaces.
func ofNamespace(o *call.Operation) bool {
	return o.Area == call.AreaManagement || o.Area == call.AreaEvaluation || o.Area == call.AreaWebhooks
}

func (r route) responses(s *schemas) object {
	headers := object{{"X-Request-Id", headerRef("RequestId")}}
	if ofNamespace(r.operation) {
		headers = headers.with("Guidon-Revision", headerRef("GuidonRevision"))
		if r.operation.Has(call.ServesStale) {
			headers = headers.with("Guidon-Stale", headerRef("GuidonStale"))
		}
		if r.operation.Has(call.Versioned) {
			headers = headers.with("ETag", headerRef("ETag"))
		}
		if r.operation.Has(call.ReadsStates) {
			headers = headers.with("ETag", headerRef("StateETag"))
		}
	}
	all := object{{"200", object{
		{"description", "Success"}, {"headers", headers}, {"content", r.example.json(r.answer(s))},
	}}}
	if r.isStep() {
		all = all.with("302", object{{"$ref", "#/components/responses/Redirect"}})
	}
	return r.withErrors(all)
}

// isStep reports whether the operation is a step of signing in that a browser makes.
func (r route) isStep() bool {
	return r.operation.Method() == "AuthorizeURL" || r.operation.Method() == "Callback"
}

// answer returns the schema of the response.
func (r route) answer(s *schemas) object {
	if r.operation.Method() == "GetInfo" {
		return schemaRef("Info")
	}
	return s.message(r.operation.NewResponse().ProtoReflect().Descriptor())
}

func (r route) withErrors(all object) object {
	switch {
	case r.operation.Has(call.Versioned):
		all = all.with("304", object{{"$ref", "#/components/responses/NotModified"}})
	case r.operation.Has(call.ReadsStates):
		all = all.with("304", object{{"$ref", "#/components/responses/SameState"}})
	}
	return errorsOf(all, r.operation, r.Route)
}
