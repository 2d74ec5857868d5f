package machine

import (
	"slices"
	"testing"
)

// TestQuotedWords: on Windows, there is no shell to interpret EDITOR.
func TestQuotedWords(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{`notepad`, []string{"notepad"}},
		{`code --wait`, []string{"code", "--wait"}},
		{`"C:\Program Files\Vim\vim.exe"  -f`, []string{`C:\Program Files\Vim\vim.exe`, "-f"}},
		{`vim "" x`, []string{"vim", "", "x"}},
		{`""`, []string{""}},
	} {
		if got := quotedWords(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.text, got, test.want)
		}
	}
}
