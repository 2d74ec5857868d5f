package codec_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/codec"
)

// number replaces every number, because a Reader can only skip numbers.
const number = "a number"

// read returns the value like encoding/json, except for numbers.
func read(r *codec.Reader) (any, error) {
	mark := r.Mark()
	if null, err := r.Null(); null {
		return nil, err
	}
	if value, err := r.Bool(); err == nil {
		return value, nil
	}
	if text, err := r.Text(); err == nil {
		return text, nil
	}
	members, elements := map[string]any{}, []any{}
	r.Return(mark)
	err := r.Object(func(name string) (err error) {
		members[name], err = read(r)
		return err
	})
	if err == nil {
		return members, nil
	}
	r.Return(mark)
	err = r.Array(func() error {
		element, err := read(r)
		elements = append(elements, element)
		return err
	})
	if err == nil {
		return elements, nil
	}
	r.Return(mark)
	return number, r.Skip()
}

// withoutNumbers returns the value with number in place of every number.
func withoutNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		return number
	case map[string]any:
		for name, v := range value {
			value[name] = withoutNumbers(v)
		}
	case []any:
		for i, v := range value {
			value[i] = withoutNumbers(v)
		}
	}
	return value
}

// FuzzReader checks that a Reader reads the same as encoding/json.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"a":"b","c":{"d":["e","\u0065\"\\","x"],"f":null,"g":true,"h":-1.5e3},"\u0061b":"\ud83d\ude00"}`))
	f.Add([]byte(` [ "a" , { } ] `))
	f.Add([]byte(`{"a":"` + strings.Repeat("large", 4000) + `\n"}`))
	f.Add([]byte(`"a`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		if !utf8.Valid(data) || len(data) > 1<<20 || json.Unmarshal(data, &want) != nil {
			return // FuzzUnmarshal tests the scanner with invalid JSON
		}
		if strings.Count(string(data), "{")+strings.Count(string(data), "[") > 20 {
			return // may be nested too deeply, or make read try too often
		}
		r := codec.NewReader(data, 1<<30)
		got, err := read(r)
		if err != nil || !r.AtEnd() {
			t.Fatalf("error %v for %q", err, data)
		}
		if diff := cmp.Diff(withoutNumbers(want), got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestReaderBounds tests the limits on elements and nesting, and AtEnd.
func TestReaderBounds(t *testing.T) {
	if err := codec.NewReader([]byte(`[1,2,3]`), 2).Skip(); err == nil {
		t.Error("more elements than allowed were read")
	}
	if err := codec.NewReader([]byte(nested(70)), 100).Skip(); err == nil {
		t.Error("too many levels were read")
	}
	r := codec.NewReader([]byte(`{} x`), 1)
	if err := r.Skip(); err != nil || r.AtEnd() {
		t.Errorf("error %v, at the end %t", err, r.AtEnd())
	}
}
