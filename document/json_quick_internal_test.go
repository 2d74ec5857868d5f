package document

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzValidJSON checks that readRaw and readJSON return the same values.
func FuzzValidJSON(f *testing.F) {
	var many strings.Builder
	for i := range 3 * manyMembers {
		fmt.Fprintf(&many, `"m%d":%d,`, i*7%manyMembers*i%40, i)
	}
	for _, text := range []string{
		`null`, ` true `, "\t-1.50e+3\n", `"a"`, `"\ud83d\ude00\ud800\"\\/\u0041"`, "\"\xff<\u2028\"", `[]`, `{}`, `[[],{},[1 , 2,null]]`,
		`{"a":1,"b":{"a":[{"a":""}]},"a":[true , false]}`, `{ "\u0061" : 1 , "a":2,"":3}`, `{` + many.String() + `"m1":null}`,
		strings.Repeat("[", 12) + strings.Repeat("]", 12), `{"a":1}x`, `{"a"`, `01`, ``,
	} {
		f.Add(text, 0)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, depth int) {
		if !json.Valid([]byte(text)) || depth < 0 {
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
