package service_test

import (
	"testing"

	"github.com/guidonhq/guidon/service"
)

func TestFoldCase(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Ada@Example.COM": "ada@example.com", "AZ@[`az{": "az@[`az{", "\u212aÄß": "\u212aÄß", "A\xffB": "a\xffb",
	} {
		if got := service.FoldCase(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestIsClean(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " ": true, "a b": true, "日本": true, "<script>": true, "ä": true,
		"\x00": false, "a\n": false, "\t": false, "\x7f": false, "a\u0085": false, "\u2028": false, "\u2029": false,
		"a\u202eb": false, "\u200f": false, "\u2066": false, "\ufffd": false, "a\xff": false,
	} {
		if got := service.IsClean(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
