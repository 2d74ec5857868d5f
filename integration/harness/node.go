package harness

import (
	"os/exec"
	"testing"
)

// InstallNode installs the packages that the folder's package-lock.json lists. It skips the
// test if Node.js is not installed, or they cannot be had.
func InstallNode(t testing.TB, dir string) {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			Skip(t, "%s is not installed", program)
		}
	}
	install := exec.Command("npm", "ci")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		Skip(t, "npm ci: %v\n%s", err, out)
	}
}
