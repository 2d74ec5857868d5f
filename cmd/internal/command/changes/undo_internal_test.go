package changes

import (
	"testing"
)

func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"flag/card:name=current":       "flag/card:name=current",
		`flag/a:metadata["b"]=current`: `'flag/a:metadata["b"]=current'`,
		"it's":                         `'it'\''s'`,
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("%s: got %s, want %s", word, got, want)
		}
	}
}
