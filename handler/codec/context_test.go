package codec_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// TestContext tests OFREP 2: values of any kind, compared by their canonical JSON.
func TestContext(t *testing.T) {
	type properties = map[string]string
	for _, test := range []struct {
		name, body string
		want       codec.EvaluationContext
	}{
		{"no context", `{}`, codec.EvaluationContext{}},
		{"an empty context", ` {"context" : {} } `, codec.EvaluationContext{}},
		{"unknown members", `{"other":[1,{"context":2}],"context":{"a":"b"},"Context":3}`, codec.EvaluationContext{Properties: properties{"a": "b"}}},
		{"texts", `{"context":{"a":"ä\u00e9\n","b":""}}`, codec.EvaluationContext{Properties: properties{"a": "äé\n", "b": ""}}},
		{"booleans", `{"context":{"t":true,"f":false}}`, codec.EvaluationContext{Properties: properties{"t": "true", "f": "false"}}},
		{"null is absent", `{"context":{"a":null,"b":"x","b":null,"targetingKey":null}}`, codec.EvaluationContext{Properties: properties{}}},
		{
			"numbers", `{"context":{"a":42,"b":42.0,"c":4.2e1,"d":-0,"e":-0.0,"f":1.50,"g":1e21,"h":0.0000001,"i":12345678901234567890,"j":1e400,"k":100e-2,"l":0.1}}`,
			codec.EvaluationContext{Properties: properties{
				"a": "42", "b": "42", "c": "42", "d": "0", "e": "0", "f": "1.5", "g": "1e+21", "h": "1e-7",
				"i": "12345678901234567890", "j": "1e400", "k": "1", "l": "0.1",
			}},
		},
		{
			"structures", `{"context":{"geo":{"z":1.0, "a":[ "x" , null,true ],"z":2},"none":{},"list":[],"deep":[[{"b":{},"a":"<\""}]]}}`,
			codec.EvaluationContext{Properties: properties{
				"geo": `{"a":["x",null,true],"z":2}`, "none": `{}`, "list": `[]`, "deep": `[[{"a":"<\"","b":{}}]]`,
			}},
		},
		{
			"repeated members", `{"context":{"a":"1"},"context":{"b":"2","b":"3","flags":"x","flags":7,"targetingKey":5}}`,
			codec.EvaluationContext{TargetingKey: "5", Properties: properties{"b": "3", "flags": "7", "targetingKey": "5"}},
		},
		{
			"targetingKey and flags", `{"context":{"targetingKey":"user-1","flags":"a, b"}}`,
			codec.EvaluationContext{TargetingKey: "user-1", Flags: "a, b", Properties: properties{"targetingKey": "user-1", "flags": "a, b"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := codec.UnmarshalContext([]byte(test.body), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// contextOf returns a body whose context has n properties.
func contextOf(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf(`"p%d":%d`, i, i)
	}
	return `{"context":{` + strings.Join(members, ",") + `}}`
}

// TestContextErrors tests OFREP 2: invalid JSON and an invalid context are distinguished,
// and every limit has its error.
func TestContextErrors(t *testing.T) {
	const notJSON = "the request body must be a JSON object"
	for _, test := range []struct {
		name, body string
		code       guidon.Code
		context    bool
		message    string
	}{
		{"nothing", ``, guidon.InvalidArgument, false, notJSON},
		{"white space", " \n", guidon.InvalidArgument, false, notJSON},
		{"not JSON", `{`, guidon.InvalidArgument, false, notJSON},
		{"a NUL behind it", "{}\x00", guidon.InvalidArgument, false, notJSON},
		{"more behind it", `{} {}`, guidon.InvalidArgument, false, notJSON},
		{"not an object", `[]`, guidon.InvalidArgument, false, notJSON},
		{"null", `null`, guidon.InvalidArgument, false, notJSON},
		{"a text", `"context"`, guidon.InvalidArgument, false, notJSON},
		{"not UTF-8", "{\"context\":{\"a\":\"\xff\"}}", guidon.InvalidArgument, false, "json body is not valid UTF-8"},
		{"a context that is a text", `{"context":"x"}`, guidon.InvalidArgument, true, "invalid field context: must be an object"},
		{"a context that is a list", `{"context":[]}`, guidon.InvalidArgument, true, "invalid field context: must be an object"},
		{"a context that is null", `{"context":null}`, guidon.InvalidArgument, true, "invalid field context: must be an object"},
		{"malformed, with a wrong context", `{"context":1,}`, guidon.InvalidArgument, false, notJSON},
		{"a structure as targeting key", `{"context":{"targetingKey":{}}}`, guidon.InvalidArgument, true, "invalid field context.targetingKey: must be a string or a number"},
		{"a boolean as targeting key", `{"context":{"targetingKey":true}}`, guidon.InvalidArgument, true, "invalid field context.targetingKey: must be a string or a number"},
		{"too many properties", contextOf(1001), guidon.InvalidArgument, true, "invalid field context: must not have more than 1000 properties"},
		{"too many values", `{"context":{"a":[` + strings.Repeat("1,", 100_000) + `1]}}`, guidon.TooLarge, false, "json body has too many values: more than 100000"},
		{"too deep", `{"context":{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}`, guidon.InvalidArgument, false, "json body is nested too deeply"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := codec.UnmarshalContext([]byte(test.body), nil)
			if guidon.CodeOf(err) != test.code || guidon.PublicMessage(err) != test.message || errors.Is(err, codec.ErrContext) != test.context {
				t.Errorf("got %v: %v", guidon.CodeOf(err), err)
			}
		})
	}
	for _, body := range []string{contextOf(1000), `{"context":{"a":` + strings.Repeat("[", 62) + strings.Repeat("]", 62) + `}}`} {
		if _, err := codec.UnmarshalContext([]byte(body), nil); err != nil {
			t.Errorf("within the limits: %v", err)
		}
	}
}

// FuzzContext checks that every body that is accepted is valid for encoding/json, and
// that every string property has the value that encoding/json reads.
func FuzzContext(f *testing.F) {
	for _, body := range []string{
		`{"context":{"targetingKey":"user-123","plan":"pro","age":42,"beta":true,"geo":{"cc":"NO"},"n":null}}`,
		`{"context":{"a":1.50e-3,"b":[1,{"b":2,"a":1}],"a":-0}}`, `{"context":null}`, `{"context":{"\ud800":"\u00e9"}}`, `[]`, `{`, ``,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, err := codec.UnmarshalContext(body, nil)
		if err != nil {
			checkRejected(t, body, err)
			return
		}
		want := membersOf(t, membersOf(t, body)["context"])
		texts, err := json.Marshal(map[string]any{"context": got.Properties})
		if err != nil || len(got.Properties) == 0 {
			return
		}
		again, err := codec.UnmarshalContext(texts, nil)
		if diff := cmp.Diff(got.Properties, again.Properties); diff != "" || err != nil {
			t.Errorf("%v: properties sent as strings are read differently (-first +second):\n%s", err, diff)
		}
		for name, value := range got.Properties {
			var text string
			if json.Unmarshal(want[name], &text) == nil && text != value {
				t.Errorf("%q is %q, want %q", name, value, text)
			}
		}
	})
}

// checkRejected checks the error for a rejected body.
func checkRejected(t *testing.T, body []byte, err error) {
	t.Helper()
	if code := guidon.CodeOf(err); code != guidon.InvalidArgument && code != guidon.TooLarge {
		t.Fatalf("%q: %v", body, err)
	}
	if errors.Is(err, codec.ErrContext) && !json.Valid(body) {
		t.Errorf("%q: got %v for invalid JSON", body, err)
	}
}

// membersOf returns the members of a JSON object, or nil if object is nil.
func membersOf(t *testing.T, object []byte) (members map[string]json.RawMessage) {
	t.Helper()
	if object == nil {
		return nil
	}
	if err := json.Unmarshal(object, &members); err != nil {
		t.Fatalf("accepted %q: %v", object, err)
	}
	return members
}
