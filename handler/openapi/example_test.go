package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// Example is a request for an operation with its response.
type Example struct {
	Request  json.RawMessage // the message, or the body of an operation without messages; may be empty
	Response []byte          // JSON, or the text of another type
}

// member returns the value of a member of the request, or nil if the request lacks it.
func (e Example) member(name string) any {
	for _, m := range e.request() {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// body returns the request without the variables of the path.
func (e Example) body(inPath map[protoreflect.FieldNumber]bool, request protoreflect.MessageDescriptor) object {
	body := object{}
	for _, m := range e.request() {
		if field := request.Fields().ByJSONName(m.name); field == nil || !inPath[field.Number()] {
			body = append(body, m)
		}
	}
	return body
}

func (e Example) request() object {
	if len(e.Request) == 0 {
		return nil
	}
	return parseJSON(e.Request).(object)
}

// json returns the media type of a JSON response with the schema.
func (e Example) json(schema object) object {
	media := object{{"schema", schema}}
	if len(e.Response) > 0 {
		media = media.with("example", parseJSON(e.Response))
	}
	return object{{"application/json", media}}
}

// text returns the media type of a response that is text.
func (e Example) text(contentType string) object { return textExample(contentType, string(e.Response)) }

func textExample(contentType, example string) object {
	return object{{contentType, object{{"schema", object{{"type", "string"}}}, {"example", example}}}}
}

// parseJSON returns the value of a JSON text, with the members of objects in their order. It
// panics if the text is malformed.
func parseJSON(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return parseNext(d)
}

func parseNext(d *json.Decoder) any {
	token, err := d.Token()
	if err != nil {
		panic(fmt.Sprintf("openapi: an example is no JSON: %v", err))
	}
	switch token {
	case json.Delim('{'):
		o := object{}
		for d.More() {
			name := parseNext(d).(string)
			o = o.with(name, parseNext(d))
		}
		_, _ = d.Token() // the end
		return o
	case json.Delim('['):
		list := []any{}
		for d.More() {
			list = append(list, parseNext(d))
		}
		_, _ = d.Token()
		return list
	}
	return token
}
