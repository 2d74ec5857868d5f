package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/web/code"
)

// TestSnippet runs the command that the page of a flag shows.
func TestSnippet(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	address := s.serve().web
	for _, test := range []struct {
		flag code.Flag
		want string
	}{
		{code.Flag{Key: "checkout", Namespace: "default", Properties: []code.Property{{Name: "email", Sample: `"a@guidon.example"`}}}, `"variantKey": "one-page"`},
		{code.Flag{Key: "banner", Namespace: "default"}, `"enabled": false`},
	} {
		test.flag.Address = address
		command := code.Find("guidon").Write(test.flag)
		run := exec.CommandContext(t.Context(), "sh", "-c", `guidon() { printf '%s\0' "$@"; }; `+command) // #nosec G204 -- a test
		run.Dir = t.TempDir()
		run.Env = []string{"PATH=" + run.Dir, "HOME=" + run.Dir} // it must run nothing else
		words, err := run.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		if got := s.ok(strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")...); !strings.Contains(got, test.want) {
			t.Errorf("%s: got %s, want %s", command, got, test.want)
		}
	}
}
