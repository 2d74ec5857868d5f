package document

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzValidJSON checks that validJSON returns the same values as the tokens of encoding/json, and
// jsonFault the same errors.
func FuzzValidJSON(f *testing.F) {
	var many strings.Builder
	for i := range 3 * manyMembers {
		fmt.Fprintf(&many, `"m%d":%d,`, i*7%manyMembers*i%40, i)
	}
	for _, text := range []string{
		`null`, ` true `, "\t-1.50e+3\n", `"a"`, `"\ud83d\ude00\ud800\"\\/\u0041"`, "\"\xff<\u2028\"", `[]`, `{}`, `[[],{},[1 , 2,null]]`,
		`{"a":1,"b":{"a":[{"a":""}]},"a":[true , false]}`, `{ "\u0061" : 1 , "a":2,"":3}`, `{` + many.String() + `"m1":null}`,
		strings.Repeat("[", 12) + strings.Repeat("]", 12), `{"a":1}x`, `{"a"`, `01`, ``, `[1 2]`, `[1,]`, `{"a":1,}`, `[}`, `{"a":[1}}`, `]`, `1e999 [`, `{} {"a" 1}`, `"\x"`,
	} {
		f.Add(text, 0)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, depth int) {
		if depth < 0 {
			return
		}
		values, fault := jsonFault([]byte(text), depth)
		if wantValues, wantFault := readAll(text, depth); values != wantValues || fault.Error() != wantFault.Error() {
			t.Fatalf("%q: got %v after %d values, want %v after %d", text, fault, values, wantFault, wantValues)
		}
		if !json.Valid([]byte(text)) {
			return
		}
		tokens := json.NewDecoder(strings.NewReader(text))
		tokens.UseNumber()
		want, wantErr := readJSON(tokens, depth)
		got, err := (&validJSON{text: []byte(text)}).value(depth)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got error %v, want %v", text, err, wantErr)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(node{}, member{})); err == nil && diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	})
}

// readAll returns how many values the text has before the first error, and that.
func readAll(text string, depth int) (values int, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	for ; ; values++ {
		if _, err = readJSON(d, depth); err != nil {
			return values, err
		}
	}
}

// readJSON reads the next value. Unless depth is 0, the value may have at most depth levels.
// At the end of the input it returns io.EOF.
func readJSON(d *json.Decoder, depth int) (*node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case nil:
		return &node{kind: null, raw: "null"}, nil
	case bool:
		word := fmt.Sprint(token)
		return &node{kind: boolean, text: word, raw: word}, nil
	case json.Number:
		return &node{kind: number, text: token.String(), raw: token.String()}, nil
	case string:
		return &node{kind: text, text: token, raw: token}, nil
	case json.Delim:
		if depth == 1 {
			return nil, errDepth
		}
		n, err := readJSONItems(d, token, max(0, depth-1))
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	}
	return nil, fmt.Errorf("unexpected %v", token)
}

// readJSONItems reads the rest of a list or object and its closing bracket.
func readJSONItems(d *json.Decoder, opening json.Delim, depth int) (*node, error) {
	n := &node{kind: list}
	if opening == '{' {
		n.kind = object
	}
	for d.More() {
		name, err := readJSONName(d, n.kind)
		if err != nil {
			return nil, err
		}
		value, err := readJSON(d, depth)
		if err != nil {
			return nil, err
		}
		if n.kind == list {
			n.items = append(n.items, value)
		} else {
			n.set(member{name: name, value: value})
		}
	}
	_, err := d.Token()
	return n, err
}

func readJSONName(d *json.Decoder, in kind) (string, error) {
	if in == list {
		return "", nil
	}
	token, err := d.Token()
	name, _ := token.(string)
	return name, err
}
