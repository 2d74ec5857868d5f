package openapi

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/handler"
)

var update = flag.Bool("update", false, "write handler/openapi.yaml")

const committed = "../openapi.yaml"

func generate(t *testing.T) []byte {
	t.Helper()
	document, err := documentOf(examples(t))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// examples returns the examples of the document: what a server answers to the requests of
// the scenario. They are always the same.
func examples(t *testing.T) map[string]Example {
	t.Helper()
	if played == nil {
		played = newShop(t).play()
	}
	return played
}

var played map[string]Example

// TestCommitted checks that the committed description, which the handler serves, matches the
// operations table.
func TestCommitted(t *testing.T) {
	want := generate(t)
	if *update {
		if err := os.WriteFile(committed, want, 0o644); err != nil { // #nosec G306 -- source
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("handler/openapi.yaml is not current; run go test ./handler/openapi -update (-want +got):\n%s", diff)
	}
	played = nil
	if again := generate(t); !bytes.Equal(want, again) {
		t.Error("the same operations gave other bytes the second time")
	}
}

// tree returns the document as parsed by a YAML library.
func tree(t *testing.T) map[string]any {
	t.Helper()
	var document map[string]any
	if err := yaml.Unmarshal(generate(t), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// at returns the value at the path of names in nested mappings, or nil if there is none.
func at(value any, names ...string) any {
	for _, name := range names {
		mapping, _ := value.(map[string]any)
		value = mapping[name]
	}
	return value
}

// TestRoutes checks that every route of the operations table is described, with a
// parameter for every variable and a body if it has one, and so are the other routes. No
// other route may be described.
func TestRoutes(t *testing.T) {
	paths, _ := tree(t)["paths"].(map[string]any)
	described := make(map[string]map[string]any) // by method and path without names
	for path, item := range paths {
		for method, operation := range item.(map[string]any) {
			route := strings.ToUpper(method) + " " + variable.ReplaceAllString(path, "{}")
			if described[route] != nil {
				t.Errorf("%s is described twice", route)
			}
			described[route] = operation.(map[string]any)
			checkVariables(t, path, operation)
		}
	}
	for _, o := range handler.Operations() {
		for _, route := range o.Routes {
			name := route.Method + " " + variable.ReplaceAllString(route.Pattern, "{}")
			operation := described[name]
			if operation == nil {
				t.Errorf("%s is not described", name)
				continue
			}
			if _, got := operation["requestBody"]; got != o.HasBody(route) {
				t.Errorf("%s has a body: got %t, want %t", name, got, o.HasBody(route))
			}
			delete(described, name)
		}
	}
	others := []string{"GET /health", "GET /metrics", "GET /openapi.yaml"}
	for _, o := range handler.OperationsOverHTTP() {
		others = append(others, o.Routes[0].Method+" "+variable.ReplaceAllString(o.Routes[0].Pattern, "{}"))
	}
	for _, name := range others {
		if described[name] == nil {
			t.Errorf("%s is not described", name)
		}
		delete(described, name)
	}
	for name := range described {
		t.Errorf("%s is described, but not a route", name)
	}
}

func checkVariables(t *testing.T, path string, operation any) {
	t.Helper()
	var want, got []string
	for _, braced := range variable.FindAllString(path, -1) {
		want = append(want, strings.Trim(braced, "{}"))
	}
	parameters, _ := at(operation, "parameters").([]any)
	for _, parameter := range parameters {
		if at(parameter, "in") == "path" {
			got = append(got, at(parameter, "name").(string))
			if at(parameter, "required") != true {
				t.Errorf("%s: path parameters must be required", path)
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("path parameters of %s (-want +got):\n%s", path, diff)
	}
}

// TestReferences checks that every reference can be resolved, and every component is
// used.
func TestReferences(t *testing.T) {
	document := tree(t)
	used := make(map[string]bool)
	walk(document, func(mapping map[string]any) {
		reference, ok := mapping["$ref"].(string)
		if !ok {
			return
		}
		used[reference] = true
		names, local := strings.CutPrefix(reference, "#/")
		if !local || at(document, strings.Split(names, "/")...) == nil {
			t.Errorf("%s cannot be resolved", reference)
		}
	})
	for _, kind := range []string{"schemas", "responses", "parameters", "headers"} {
		components, _ := at(document, "components", kind).(map[string]any)
		for name := range components {
			if reference := "#/components/" + kind + "/" + name; !used[reference] {
				t.Errorf("%s is not used", reference)
			}
		}
	}
}

// TestOperations checks that every operation has a unique id, a summary, a description, a tag
// that is declared and described, and an example of its response, and of its body if it
// has one.
func TestOperations(t *testing.T) {
	document := tree(t)
	tags := make(map[any]bool)
	for _, tag := range document["tags"].([]any) {
		tags[at(tag, "name")] = true
		if text, _ := at(tag, "description").(string); text == "" {
			t.Errorf("tag %s has no description", at(tag, "name"))
		}
	}
	ids := make(map[any]bool)
	for path, item := range document["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			id := at(operation, "operationId")
			if id == nil || ids[id] {
				t.Errorf("%s %s: operationId %v is missing or not unique", method, path, id)
			}
			ids[id] = true
			for _, member := range []string{"summary", "description"} {
				if text, _ := at(operation, member).(string); text == "" {
					t.Errorf("%s %s has no %s", method, path, member)
				}
			}
			for _, tag := range at(operation, "tags").([]any) {
				if !tags[tag] {
					t.Errorf("%s %s: tag %s is not declared", method, path, tag)
				}
			}
			contents, _ := at(operation, "requestBody", "content").(map[string]any)
			checkExamples(t, method+" "+path+": the request", contents)
			contents, _ = at(operation, "responses", "200", "content").(map[string]any)
			checkExamples(t, method+" "+path+": the response", contents)
		}
	}
}

func checkExamples(t *testing.T, what string, contents map[string]any) {
	t.Helper()
	for contentType, media := range contents {
		example, ok := at(media, "example").(string)
		if value := at(media, "example"); value == nil || ok && example == "" {
			// The body of an operation without fields is empty.
			if reference, _ := at(media, "schema", "$ref").(string); reference != "" || contentType != "application/json" {
				t.Errorf("%s (%s) has no example", what, contentType)
			}
		}
	}
}

// TestDescriptions checks that every parameter, header, response, schema and property is
// described.
func TestDescriptions(t *testing.T) {
	document := tree(t)
	described := func(what string, value any) {
		if text, _ := at(value, "description").(string); text == "" && at(value, "$ref") == nil {
			t.Errorf("%s has no description", what)
		}
	}
	components := document["components"].(map[string]any)
	for kind, all := range components {
		for name, component := range all.(map[string]any) {
			described(kind+" "+name, component)
		}
	}
	for path, item := range document["paths"].(map[string]any) {
		for method, operation := range item.(map[string]any) {
			parameters, _ := at(operation, "parameters").([]any)
			for _, parameter := range parameters {
				described(fmt.Sprint(method, " ", path, ": ", at(parameter, "name")), parameter)
			}
			for status, response := range at(operation, "responses").(map[string]any) {
				described(method+" "+path+": "+status, response)
			}
		}
	}
	walk(document, func(mapping map[string]any) {
		properties, _ := mapping["properties"].(map[string]any)
		if mapping["type"] != "object" {
			return
		}
		for name, property := range properties {
			if text, _ := at(property, "description").(string); text == "" {
				t.Errorf("the property %s of %v has no description", name, slices.Sorted(maps.Keys(properties)))
			}
		}
	})
}

// TestDetails checks one example of everything that is derived from the descriptors.
func TestDetails(t *testing.T) {
	document := tree(t)
	schema := func(names ...string) any {
		return at(document, append([]string{"components", "schemas"}, names...)...)
	}
	operation := func(path, method string) any { return at(document, "paths", path, method) }
	reference := func(name string) any {
		return map[string]any{"$ref": "#/components/schemas/" + name}
	}
	tests := []struct {
		name      string
		got, want any
	}{
		{"fields that cannot be unset are required in responses (contract 1.3)", schema("FlagList", "required"), []any{"flags", "nextPageToken", "totalCount"}},
		{"what a request needs is required", schema("CreateFlagRequest", "required"), []any{"key", "name"}},
		{"nor in messages used in both", schema("Document", "required"), nil},
		{"list", schema("FlagList", "properties", "flags"), map[string]any{"type": "array", "items": reference("Flag"), "description": "The flags, in creation order."}},
		{"map", schema("EvaluationRequest", "properties", "context", "additionalProperties"), map[string]any{"type": "string"}},
		{"enum", schema("FlagType"), map[string]any{
			"type": "string", "enum": []any{"VARIANT_FLAG_TYPE", "BOOLEAN_FLAG_TYPE"}, "x-enum-varnames": []any{"Variant", "Boolean"},
			"description": "What a flag returns.\n\n- `VARIANT_FLAG_TYPE`: One of its variants, by rules.\n- `BOOLEAN_FLAG_TYPE`: True or false, by rollouts.",
		}},
		{"timestamp", schema("Flag", "properties", "createdAt"), map[string]any{"type": "string", "format": "date-time", "description": "When it was created."}},
		{"object", schema("Flag", "properties", "metadata", "additionalProperties"), true},
		{"int64", schema("Change", "properties", "revision", "format"), "int64"},
		{"deprecated field", schema("CreateRuleRequest", "properties", "segmentKey", "deprecated"), true},
		{"body", at(operation("/api/v1/namespaces/{namespaceKey}/flags", "post"), "requestBody", "content", "application/json", "schema"), reference("CreateFlagRequest")},
		{"delete returns {}", at(operation("/api/v1/namespaces/{namespaceKey}/flags/{key}", "delete"), "responses", "200", "content", "application/json", "schema", "type"), "object"},
		{"query", at(operation("/api/v1/namespaces", "get"), "parameters").([]any)[1], map[string]any{
			"name": "offset", "in": "query", "deprecated": true, "description": "How many items are left out. A pageToken takes precedence.",
			"schema": map[string]any{"type": "integer", "format": "int32"},
		}},
		{"a read may require a revision", at(operation("/api/v1/namespaces/{key}", "get"), "parameters").([]any)[2:], []any{
			map[string]any{"$ref": "#/components/parameters/MinRevision"}, map[string]any{"$ref": "#/components/parameters/CacheControl"},
			map[string]any{"$ref": "#/components/parameters/IfNoneMatch"},
		}},
		{"a read may be of a state", at(operation("/api/v1/namespaces/{key}", "get"), "parameters").([]any)[0].(map[string]any)["description"], "The key of the namespace, or a reference to one of its states: key@revision, or key@time in RFC 3339."},
		{"a write is not", at(operation("/api/v1/namespaces/{key}", "put"), "parameters").([]any)[0].(map[string]any)["description"], "The key of the namespace."},
		{"a state may be known", at(operation("/api/v1/namespaces/{namespaceKey}/export", "get"), "responses", "304", "$ref"), "#/components/responses/SameState"},
		{"an evaluation may be stale", at(operation("/evaluate/v1/boolean", "post"), "responses", "200", "headers", "Guidon-Stale", "$ref"), "#/components/headers/GuidonStale"},
		{"a write may be conditional", at(operation("/api/v1/namespaces", "post"), "parameters"), []any{map[string]any{"$ref": "#/components/parameters/IfMatch"}, map[string]any{"$ref": "#/components/parameters/Message"},
			map[string]any{"$ref": "#/components/parameters/DryRun"}}},
		{"a condition may fail", at(operation("/api/v1/namespaces", "post"), "responses", "412", "$ref"), "#/components/responses/PreconditionFailed"},
		{"expireSelf has its parameters in the query (contract 10.4)", at(operation("/auth/v1/self/expire", "put"), "parameters").([]any)[0].(map[string]any)["in"], "query"},
		{"the list of methods is public", at(operation("/auth/v1/method", "get"), "security"), []any{map[string]any{}}},
		{"aliases are deprecated", at(operation("/api/v1/flags", "get"), "deprecated"), true},
		{"error", schema("Error", "required"), []any{"code", "message", "details"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func walk(value any, visit func(map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		visit(v)
		for _, inner := range v {
			walk(inner, visit)
		}
	case []any:
		for _, inner := range v {
			walk(inner, visit)
		}
	}
}
