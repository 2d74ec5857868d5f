// Package openapi generates the OpenAPI description of the HTTP interface from the
// operations table and the message descriptors, so that it cannot drift from either. It
// is a build tool, which the program does not link. Its test compares the result with
// handler/openapi.yaml, which the handler serves, and with -update writes that file.
package openapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// Document returns the description of the operations, and of the few other routes, as
// YAML. It is always the same. It returns an error if an operation has
// no summary, or if its request has no field for a path variable.
func Document(title, version string) ([]byte, error) {
	operations := handler.Operations()
	s := newSchemas(operations)
	paths, err := pathsOf(operations, s)
	if err != nil {
		return nil, err
	}
	document := object{
		{"openapi", "3.1.0"},
		{"info", object{
			{"title", title},
			{"version", version},
			{"description", introduction},
			{"license", object{{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}},
		}},
		{"servers", []any{object{{"url", "/"}}}},
		{"security", []any{object{{"bearer", []any{}}}, object{{"cookie", []any{}}}, object{}}},
		{"tags", tagsOf(operations)},
		{"paths", paths},
		{"components", object{
			{"schemas", s.all()},
			{"responses", responses},
			{"parameters", parameters},
			{"headers", headers},
			{"securitySchemes", securitySchemes},
		}},
	}
	return document.encode(), nil
}

// pathsOf groups the routes by path, in the order of the table.
func pathsOf(operations []*call.Operation, s *schemas) (object, error) {
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
			r := newRoute(o, route, i > 0)
			item, err := r.describe(s)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", route.Method, route.Pattern, err)
			}
			add(r.path(), route.Method, item)
		}
	}
	for _, o := range handler.OperationsOverHTTP() {
		item, err := itemOf(o)
		if err != nil {
			return nil, err
		}
		add(strings.ReplaceAll(o.Name, "namespace_key", "namespaceKey"), o.Routes[0].Method, item)
	}
	for _, other := range others {
		add(other.path, other.method, other.item)
	}
	return paths, nil
}

// itemOf returns the operation object of an operation without messages.
func itemOf(o *call.Operation) (object, error) {
	item := slices.Concat(ofrepItems[o.Name], streamItems[o.Name])
	summary := summaries[o.Name]
	if summary == "" || item == nil {
		return nil, fmt.Errorf("%s has no summary, or is not described", o.Name)
	}
	return slices.Insert(item, 1, object{{"summary", summary}}...), nil // after the tags
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
		object{{"name", ofrepTag}, {"description", "The OpenFeature Remote Evaluation Protocol"}},
		object{{"name", instanceTag}, {"description", "The running process itself"}})
}

// schemas are the messages and enums that the operations use.
type schemas struct {
	byName  map[protoreflect.FullName]object
	request map[protoreflect.FullName]bool // messages that can occur in requests
}

func newSchemas(operations []*call.Operation) *schemas {
	s := &schemas{byName: make(map[protoreflect.FullName]object), request: make(map[protoreflect.FullName]bool)}
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
	all := append(object{{"Error", errorSchema}}, ofrepSchemas...)
	for _, name := range slices.Sorted(maps.Keys(s.byName)) {
		all = all.with(string(name), s.byName[name])
	}
	return all
}
