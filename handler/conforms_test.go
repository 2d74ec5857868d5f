package handler_test

import (
	"fmt"
	"slices"
	"strings"
)

// schema checks values against the schemas of a document, as far as openapi.yaml uses them:
// types, properties, items, enums and references.
type schema struct{ document map[string]any }

// member returns the member of an object, or nil if the object lacks it.
func member(value any, name string) any {
	o, _ := value.(map[string]any)
	return o[name]
}

// resolve returns what a reference refers to, or the value itself.
func (s schema) resolve(value any) any {
	reference, is := member(value, "$ref").(string)
	if !is {
		return value
	}
	var found any = s.document
	for name := range strings.SplitSeq(strings.TrimPrefix(reference, "#/"), "/") {
		found = member(found, name)
	}
	return found
}

// check returns what of the value at the path is not as the schema has it, or "".
func (s schema) check(declared, value any, path string) string {
	declared = s.resolve(declared)
	if alternatives, is := member(declared, "oneOf").([]any); is {
		if !slices.ContainsFunc(alternatives, func(one any) bool { return s.check(one, value, path) == "" }) {
			return path + " is none of the alternatives"
		}
		return ""
	}
	if values, is := member(declared, "enum").([]any); is && !slices.Contains(values, value) {
		return fmt.Sprintf("%s is %v", path, value)
	}
	kind := member(declared, "type")
	switch v := value.(type) {
	case map[string]any:
		return s.checkObject(declared, v, path)
	case []any:
		for i, item := range v {
			if problem := s.check(member(declared, "items"), item, fmt.Sprintf("%s[%d]", path, i)); problem != "" {
				return problem
			}
		}
		return mismatch(kind, path, "array")
	case string:
		return mismatch(kind, path, "string")
	case bool:
		return mismatch(kind, path, "boolean")
	case float64:
		return mismatch(kind, path, "number", "integer")
	}
	if kind != nil {
		return path + " is null"
	}
	return ""
}

// mismatch returns that the value is not of the declared type, unless it is.
func mismatch(declared any, path string, actual ...any) string {
	if declared == nil || slices.Contains(actual, declared) {
		return ""
	}
	return fmt.Sprintf("%s is of the type %v", path, actual[0])
}

func (s schema) checkObject(declared any, value map[string]any, path string) string {
	if problem := mismatch(member(declared, "type"), path, "object"); problem != "" || declared == nil {
		return problem
	}
	required, _ := member(declared, "required").([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			return fmt.Sprintf("%s.%s is missing", path, name)
		}
	}
	properties := member(declared, "properties")
	others := member(declared, "additionalProperties")
	for name, inner := range value {
		property := member(properties, name)
		if property == nil {
			if property = others; property == true {
				continue
			}
		}
		if _, is := property.(map[string]any); !is && member(declared, "type") != nil {
			return fmt.Sprintf("%s.%s is not declared", path, name)
		}
		if problem := s.check(property, inner, path+"."+name); problem != "" {
			return problem
		}
	}
	return ""
}
