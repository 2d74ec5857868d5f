package change

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/internal/lists"
)

// SameJSON reports whether two JSON texts have the same value, with the same order of
// members and the same number literals. It ignores how strings are escaped.
func SameJSON(a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	left, right := json.NewDecoder(strings.NewReader(a)), json.NewDecoder(strings.NewReader(b))
	left.UseNumber()
	right.UseNumber()
	for {
		x, errX := left.Token()
		y, errY := right.Token()
		if errX != nil || errY != nil {
			return errX == io.EOF && errY == io.EOF
		}
		if x != y {
			return false
		}
	}
}

// Encode returns the value as JSON, without the escapes that only HTML needs. What JSON cannot
// express, such as a number that is not finite, becomes a string: a stored object has none.
func Encode(value any) json.RawMessage {
	switch value := value.(type) {
	case string:
		return appendString(make([]byte, 0, len(value)+2), value)
	case bool:
		return strconv.AppendBool(nil, value)
	case []string:
		return jsonList(value, func(text string) []byte { return appendString(nil, text) })
	case encoding.TextMarshaler: // an enum
		if text, err := value.MarshalText(); err == nil {
			return appendString(nil, string(text))
		}
	}
	return encodeAny(value)
}

// encodeAny is Encode for any value, with reflection.
func encodeAny(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return Encode(fmt.Sprint(value))
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// appendString appends the JSON form of the text.
func appendString(out []byte, text string) []byte {
	special := func(r rune) bool { return r < ' ' || r >= utf8.RuneSelf || r == '"' || r == '\\' }
	if strings.ContainsFunc(text, special) {
		return append(out, encodeAny(text)...)
	}
	return append(append(append(out, '"'), text...), '"')
}

// jsonList returns the JSON list of the forms of the items.
func jsonList[T any](items []T, form func(T) []byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(lists.Map(items, form), []byte(",")), []byte("]"))
}

// jsonObject is a JSON object that keeps the order of its members.
type jsonObject struct{ text []byte }

func (o *jsonObject) add(name string, value json.RawMessage) {
	start := byte(',')
	if o.text == nil {
		start = '{'
	}
	o.text = append(append(appendString(append(o.text, start), name), ':'), value...)
}

func (o *jsonObject) end() json.RawMessage {
	if o.text == nil {
		return json.RawMessage("{}")
	}
	return append(o.text, '}')
}

// property is a member of a JSON object.
type property struct {
	name  string
	value json.RawMessage
}

// properties returns the members of a JSON object in their order. It returns false for
// any other text, and if a name occurs twice.
func properties(text json.RawMessage) ([]property, bool) {
	if len(text) == 0 {
		return nil, true
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	var list []property
	seen := map[string]bool{}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, false
		}
		p := property{name: name.(string)}
		if err := decoder.Decode(&p.value); err != nil || seen[p.name] {
			return nil, false
		}
		seen[p.name] = true
		list = append(list, p)
	}
	end, err := decoder.Token()
	return list, err == nil && end == json.Delim('}') && !decoder.More()
}

// join returns the JSON object with the members, or nil if there are none.
func join(list []property) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	var o jsonObject
	for _, p := range list {
		o.add(p.name, p.value)
	}
	return o.end()
}
