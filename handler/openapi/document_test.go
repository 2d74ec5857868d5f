// Package openapi generates the OpenAPI description of the HTTP interface from the
// operations table, the message descriptors and their comments, so that it cannot drift from
// them. It plays a scenario of requests on a server: they and the responses are the examples.
// TestCommitted compares the result with handler/openapi.yaml, which the handler serves, and
// with -update writes that file.
package openapi

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// documentOf returns the description of the operations, and of the few other routes, as
// YAML. It is always the same. It returns an error if something is not described, or if a
// request has no field for a path variable. The examples are by the names of operations, or
// the paths of other routes.
func documentOf(examples map[string]Example) ([]byte, error) {
	comments, err := readComments(os.DirFS("../wire"))
	if err != nil {
		return nil, err
	}
	operations := handler.Operations()
	s := newSchemas(operations, comments)
	paths, err := pathsOf(operations, s, examples)
	if err != nil {
		return nil, err
	}
	document := object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", "Guidon"},
			{"version", "1"},
			{"description", introduction},
			{"contact", object{{"name", "Guidon"}, {"url", "https://github.com/guidonhq/guidon"}}},
			{"license", object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []any{object{{"url", "/"}, {"description", "The server that serves this description"}}}},
		{"security", []any{object{{"bearer", []any{}}}, object{{"cookie", []any{}}}, object{}}},
		{"tags", tagsOf(operations)},
		{"paths", paths},
		{"components", object{
			{"schemas", s.all()},
			{"responses", slices.Concat(responses, errorResponses())},
			{"parameters", parameters},
			{"headers", headers},
			{"securitySchemes", securitySchemes},
		}},
	}
	if err := errors.Join(s.problems...); err != nil {
		return nil, err
	}
	return document.encode()
}

// pathsOf groups the routes by path, in the order of the table.
func pathsOf(operations []*call.Operation, s *schemas, examples map[string]Example) (object, error) {
	var paths object
	index := make(map[string]int)
	add := func(path, method string, item object) {
		at, ok := index[path]
		if !ok {
			at = len(paths)
			index[path] = at
			paths = paths.with(path, object{})
		}
		paths[at].value = paths[at].value.(object).with(strings.ToLower(method), item)
	}
	for _, o := range operations {
		for i, route := range o.Routes {
			r := newRoute(o, route, i > 0, examples[o.Name])
			item, err := r.describe(s)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", route.Method, route.Pattern, err)
			}
			add(r.path(), route.Method, item)
		}
	}
	for _, o := range handler.OperationsOverHTTP() {
		item, err := itemOf(o, s, examples[o.Name])
		if err != nil {
			return nil, err
		}
		add(strings.ReplaceAll(o.Name, "namespace_key", "namespaceKey"), o.Routes[0].Method, item)
	}
	for _, other := range others {
		add(other.path, other.method, other.item(examples[other.path]))
	}
	return paths, nil
}

// itemOf returns the operation object of an operation without messages.
func itemOf(o *call.Operation, s *schemas, example Example) (object, error) {
	describe := ofrepItems[o.Name]
	if describe == nil {
		describe = streamItems[o.Name]
	}
	if describe == nil {
		return nil, fmt.Errorf("%s is not described", o.Name)
	}
	d := describe(s, example)
	text, err := textOf(o, false)
	if err != nil {
		return nil, err
	}
	item := append(object{{"tags", []any{d.tag}}}, text...)
	if len(d.security) > 0 {
		item = item.with("security", d.security)
	}
	if len(d.parameters) > 0 {
		item = item.with("parameters", d.parameters)
	}
	if d.body != nil {
		item = item.with("requestBody", d.body)
	}
	return item.with("responses", errorsOf(d.responses, o, o.Routes[0])), nil
}

// operationParts has the parts in which operations without messages differ.
type operationParts struct {
	tag        string
	security   []any
	parameters []any
	body       object
	responses  object // but for errors
}

// textOf returns the members of an operation that are text: what it does and who may. older
// states that they are those of an older path to it.
func textOf(o *call.Operation, older bool) (object, error) {
	text := texts[o.Name]
	summary, description := text.summary, text.description
	if summary == "" || description == "" {
		return nil, fmt.Errorf("%s has no summary, or no description", o.Name)
	}
	if role, everywhere, _ := o.Needs(); everywhere {
		description += fmt.Sprintf(" Needs the role %s in all namespaces.", role)
	} else if role != service.RoleUnset {
		description += fmt.Sprintf(" Needs the role %s.", role)
	}
	if older {
		summary += " (older path)"
		description += " This path is for older clients: the namespace is that of the request, or the default one."
	}
	return object{{"summary", summary}, {"description", description}, {"operationId", operationID(o, older)}}, nil
}

func tagsOf(operations []*call.Operation) []any {
	var tags []any
	seen := make(map[string]bool)
	for _, o := range operations {
		if tag := o.Service(); !seen[tag] {
			seen[tag] = true
			tags = append(tags, object{{"name", tag}, {"description", services[tag]}})
		}
	}
	return append(tags,
		object{{"name", ofrepTag}, {"description", "The OpenFeature Remote Evaluation Protocol, over HTTP only"}},
		object{{"name", instanceTag}, {"description", "The running process itself"}})
}

// schemas are the messages and enums that the operations use.
type schemas struct {
	byName   map[string]object
	owners   map[string]protoreflect.FullName // the messages or enums with these names
	request  map[protoreflect.FullName]bool   // messages that can occur in requests
	comments comments
	problems []error
}

func newSchemas(operations []*call.Operation, comments comments) *schemas {
	s := &schemas{
		byName: make(map[string]object), owners: make(map[string]protoreflect.FullName),
		request: make(map[protoreflect.FullName]bool), comments: comments,
	}
	for _, o := range operations {
		s.addRequest(o.NewRequest().ProtoReflect().Descriptor())
	}
	return s
}

func (s *schemas) addRequest(message protoreflect.MessageDescriptor) {
	if s.request[message.FullName()] || isSpecial(message) {
		return
	}
	s.request[message.FullName()] = true
	for i := range message.Fields().Len() {
		if inner := message.Fields().Get(i).Message(); inner != nil && !inner.IsMapEntry() {
			s.addRequest(inner)
		}
	}
}

// all returns the schemas that were referred to, sorted by name.
func (s *schemas) all() object {
	all := append(object{{"Error", errorSchema}, {"Info", infoSchema}}, ofrepSchemas...)
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		all = all.with(name, s.byName[name])
	}
	return all
}
