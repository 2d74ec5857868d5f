package page_test

import (
	"testing"

	"github.com/guidonhq/guidon/handler/web/page"
)

// TestSet: one member changes, and all others stay as they are written.
func TestSet(t *testing.T) {
	for _, test := range []struct{ object, key, value, want string }{
		{"", "a", `1`, `{"a":1}`},
		{`{}`, "a", `"x"`, `{"a":"x"}`},
		{`{"b": 1.50, "a": [ 1 ], "c":"ä<"}`, "a", `2`, `{"b":1.50,"a":2,"c":"ä<"}`},
		{`{"b":12345678901234567890}`, "\"<", `null`, `{"b":12345678901234567890,"\"<":null}`},
		{`{"a":1,"b":2,"a":3}`, "a", `4`, `{"b":2,"a":4}`},
	} {
		if got := page.SetMember(test.object, test.key, test.value); got != test.want {
			t.Errorf("%s: got %s, want %s", test.object, got, test.want)
		}
	}
}

// TestWithTag: a tag is added as the tags are written.
func TestWithTag(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{"", `{"tags":["old"]}`},
		{`{"owner":"ann"}`, `{"owner":"ann","tags":["old"]}`},
		{`{"tags":null}`, `{"tags":["old"]}`},
		{`{"tags":["a", 7],"b":1}`, `{"tags":["a",7,"old"],"b":1}`},
		{`{"tags":["OLD"]}`, `{"tags":["OLD"]}`},
		{`{"tags":"a, b"}`, `{"tags":"a, b, old"}`},
		{`{"tags":"a,"}`, `{"tags":"a, old"}`},
		{`{"tags":""}`, `{"tags":"old"}`},
		{`{"tags":"a, Old ,b"}`, `{"tags":"a, Old ,b"}`},
		{`{"tags":{"a":1}}`, ""},
		{`{"tags":7}`, ""},
	} {
		if got := page.WithTag(test.object, "old"); got != test.want {
			t.Errorf("%s: got %s, want %s", test.object, got, test.want)
		}
	}
}
