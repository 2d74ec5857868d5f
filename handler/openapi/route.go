package openapi

import (
	"fmt"
	"regexp"
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
}

func newRoute(o *call.Operation, r call.Route, alias bool) route {
	return route{Route: r, operation: o, alias: alias, request: o.NewRequest().ProtoReflect().Descriptor()}
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
	summary, ok := summaries[r.operation.Name]
	if !ok {
		return nil, fmt.Errorf("%s has no summary", r.operation.Name)
	}
	id := r.operation.Service()
	id = id[strings.LastIndexByte(id, '.')+1:] + "_" + r.operation.Method()
	if r.alias {
		id += "_legacy"
		summary += " (older path: the namespace is named in the request, or is the default one)"
	}
	item := object{
		{"tags", []any{r.operation.Service()}},
		{"summary", summary},
		{"operationId", id},
	}
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
		item = item.with("requestBody", object{{"content", jsonContent(s.message(r.request))}})
	}
	return item.with("responses", r.responses(s)), nil
}

// parameters returns the path variables, then the rest of the request if it is in the
// query, then the headers.
func (r route) parameters(s *schemas) ([]any, error) {
	var all []any
	inPath := make(map[protoreflect.FieldNumber]bool)
	for _, match := range variable.FindAllStringSubmatch(r.Pattern, -1) {
		field := r.field(match[1])
		if field == nil {
			return nil, fmt.Errorf("%s has no field %q", r.request.FullName(), match[1])
		}
		inPath[field.Number()] = true
		parameter := object{{"name", field.JSONName()}, {"in", "path"}, {"required", true}}
		all = append(all, r.describeReference(parameter, field).with("schema", s.single(field)))
	}
	for i := range r.request.Fields().Len() {
		field := r.request.Fields().Get(i)
		if inPath[field.Number()] || r.operation.HasBody(r.Route) || isSpecial(r.request) {
			continue
		}
		parameter := object{{"name", field.JSONName()}, {"in", "query"}}
		if isDeprecated(field) {
			parameter = parameter.with("deprecated", true)
		}
		schema := s.single(field)
		if field.IsList() {
			schema = object{{"type", "array"}, {"items", schema}}
		}
		all = append(all, r.describeReference(parameter, field).with("schema", schema))
	}
	if r.operation.Writes() {
		all = append(all, object{{"$ref", "#/components/parameters/IfMatch"}})
	}
	if r.operation.TakesMessage() {
		all = append(all, object{{"$ref", "#/components/parameters/Message"}})
	}
	if ofNamespace(r.operation) && !r.operation.Writes() && !ofNone(r.operation) {
		all = append(all,
			object{{"$ref", "#/components/parameters/MinRevision"}},
			object{{"$ref", "#/components/parameters/CacheControl"}})
	}
	if r.operation.ReadsStates() {
		all = append(all, object{{"$ref", "#/components/parameters/IfNoneMatch"}})
	}
	if r.operation.Versioned() {
		all = append(all,
			object{{"$ref", "#/components/parameters/IfNoneMatch"}},
			object{{"$ref", "#/components/parameters/ClientVersion"}})
	}
	return all, nil
}

// describeReference adds to the parameter with the key of a namespace that it may be a
// reference to a state.
func (r route) describeReference(parameter object, field protoreflect.FieldDescriptor) object {
	if !r.operation.ReadsStates() || field != call.NamespaceField(r.request) {
		return parameter
	}
	return parameter.with("description", referenceText)
}

// ofNone reports whether the operation is about no particular namespace, and so has no
// revision.
func ofNone(o *call.Operation) bool {
	return o.Name == "/flipt.Flipt/ListNamespaces" || o.Name == "/guidon.v1.CatalogService/Search"
}

// ofNamespace reports whether the operation is about namespaces.
func ofNamespace(o *call.Operation) bool {
	return o.Area == call.AreaManagement || o.Area == call.AreaEvaluation
}

func (r route) responses(s *schemas) object {
	success := object{{"description", "Success"}}
	if ofNamespace(r.operation) {
		headers := object{{"Guidon-Revision", object{{"$ref", "#/components/headers/GuidonRevision"}}}}
		if r.operation.ServesStale() {
			headers = headers.with("Guidon-Stale", object{{"$ref", "#/components/headers/GuidonStale"}})
		}
		if r.operation.Versioned() {
			headers = headers.with("ETag", object{{"$ref", "#/components/headers/ETag"}})
		}
		if r.operation.ReadsStates() {
			headers = headers.with("ETag", object{{"$ref", "#/components/headers/StateETag"}})
		}
		success = success.with("headers", headers)
	}
	success = success.with("content", jsonContent(s.message(r.operation.NewResponse().ProtoReflect().Descriptor())))
	all := object{{"200", success}}
	switch {
	case r.operation.Versioned():
		all = all.with("304", object{{"$ref", "#/components/responses/NotModified"}})
	case r.operation.ReadsStates():
		all = all.with("304", object{{"$ref", "#/components/responses/SameState"}})
	}
	if r.operation.Area != call.AreaPublic {
		all = all.with("401", object{{"$ref", "#/components/responses/Unauthenticated"}})
	}
	if r.operation.Writes() {
		all = all.with("412", object{{"$ref", "#/components/responses/Stale"}})
	}
	return all.with("default", object{{"$ref", "#/components/responses/Error"}})
}

func jsonContent(schema object) object {
	return object{{"application/json", object{{"schema", schema}}}}
}
