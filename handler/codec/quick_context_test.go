package codec_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/codec/quick"
)

// quickContexts are bodies with an evaluation context, and whether the fast path reads
// them.
var quickContexts = []struct {
	name  string
	body  string
	quick bool
}{
	{"texts, numbers and booleans", `{"context":{"targetingKey":"user-1","country":"US","age":42,"beta":true,"old":false,"balance":-7}}`, true},
	{"a number for the targeting key", `{"context":{"targetingKey":12345678901234567890}}`, true},
	{"a list of flags", `{"context":{"flags":"a,b"}}`, true},
	{"flags that are not a string", `{"context":{"flags":7}}`, true},
	{"flags twice, the last not a string", `{"context":{"flags":"a","flags":true}}`, true},
	{"a property twice", `{"context":{"a":"1","a":2}}`, true},
	{"an empty name", `{"context":{"":"x"}}`, true},
	{"an empty context", `{"context":{}}`, true},
	{"white space", " {\n\"context\" : { \"a\" :\t1 , \"b\" : true } \r\n} ", true},
	{"beyond ASCII", `{"context":{"城市":"東京"}}`, true},
	{"zero", `{"context":{"a":0}}`, true},
	{"1000 properties", `{"context":{` + properties(1000) + `}}`, true},

	{"1001 properties", `{"context":{` + properties(1001) + `}}`, false},
	{"no context", `{}`, false},
	{"nothing", ``, false},
	{"another member", `{"context":{},"x":1}`, false},
	{"the context twice", `{"context":{"a":1},"context":{}}`, false},
	{"null", `{"context":{"a":null}}`, false},
	{"null for the context", `{"context":null}`, false},
	{"a list", `{"context":{"a":[1]}}`, false},
	{"an object", `{"context":{"a":{}}}`, false},
	{"a fraction", `{"context":{"a":1.50}}`, false},
	{"an exponent", `{"context":{"a":15e-1}}`, false},
	{"minus zero", `{"context":{"a":-0}}`, false},
	{"a leading zero", `{"context":{"a":01}}`, false},
	{"a lone minus", `{"context":{"a":-}}`, false},
	{"a boolean for the targeting key", `{"context":{"targetingKey":true}}`, false},
	{"an escape", `{"context":{"a":"\n"}}`, false},
	{"not UTF-8", "{\"context\":{\"a\":\"\xff\"}}", false},
	{"something after it", `{"context":{}}x`, false},
	{"a zero byte after it", "{\"context\":{}}\x00", false},
	{"half a literal", `{"context":{"a":tru}}`, false},
	{"more than a literal", `{"context":{"a":truex}}`, false},
	{"no end", `{"context":{"a":1}`, false},
	{"a large body", `{"context":{"a":"` + strings.Repeat("a", 64<<10) + `"}}`, false},
}

func properties(n int) string {
	members := make([]string, n)
	for i := range members {
		members[i] = `"p` + strconv.Itoa(i) + `":1`
	}
	return strings.Join(members, ",")
}

// TestQuickContexts checks that the fast path reads a context like the general code.
func TestQuickContexts(t *testing.T) {
	for _, test := range quickContexts {
		t.Run(test.name, func(t *testing.T) {
			if _, _, _, ok := codec.ContextQuick([]byte(test.body), nil, 1000); ok != (test.quick && quick.Enabled) {
				t.Errorf("read by the fast path: %t, want %t", ok, test.quick)
			}
			checkContext(t, []byte(test.body))
		})
	}
}

func checkContext(t *testing.T, body []byte) {
	t.Helper()
	want, wantErr := codec.ContextGeneral(body)
	for _, room := range []map[string]string{nil, {}} {
		got, gotErr := codec.UnmarshalContext(body, room)
		if (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
			t.Errorf("%q: got error %v, want %v", body, gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", body, diff)
		}
	}
}

// FuzzQuickContext checks that both paths read every body alike.
func FuzzQuickContext(f *testing.F) {
	for _, test := range quickContexts {
		if len(test.body) < 1<<10 {
			f.Add([]byte(test.body))
		}
	}
	f.Fuzz(checkContext)
}
