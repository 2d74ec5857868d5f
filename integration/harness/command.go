package harness

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Command returns a command that runs the guidon program with the arguments on the database
// at the URL. The end of the test kills it.
func Command(t testing.TB, database string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), Program(t), args...) // #nosec G204 -- our own
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GUIDON_DB_URL=" + database}
	return c
}

// Ends runs the command to its end, and checks its success and that its output contains the
// text. It returns the output.
func Ends(t testing.TB, c *exec.Cmd, success bool, text string) (output string) {
	t.Helper()
	out, err := c.CombinedOutput()
	if (err == nil) != success || !strings.Contains(string(out), text) {
		t.Fatalf("%q: got %v and %q, want success %t and %q", c.Args[1:], err, out, success, text)
	}
	return string(out)
}
