//go:build linux

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// require gets what the page needs besides guidon while there still is a network: the
// packages of its program. The test is skipped if a program is not installed.
func (p *page) require(t *testing.T, root string) {
	t.Helper()
	for _, b := range p.blocks {
		if program := b.markers["requires"]; program != "" {
			if _, err := exec.LookPath(program); err != nil {
				harness.Omit(t, "%s: the blocks of the page are not run: %s is not installed", p.name, program)
				t.SkipNow()
			}
		}
		if strings.HasPrefix(b.markers["output of"], asBrowser+" ") {
			if _, err := harness.LookChromium(); err != nil {
				harness.Skip(t, "chromium is not installed")
			}
		}
		if !b.isShell() {
			continue
		}
		for line := range strings.Lines(b.text) {
			if program, is := strings.CutPrefix(strings.TrimSpace(line), "cd examples/"); is {
				download(t, filepath.Join(root, "examples", program))
			}
		}
	}
}

// download fills the caches of package managers with what a program needs.
func download(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		c := exec.Command("go", "mod", "download")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go mod download: %v\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "package.json")); err == nil {
		elsewhere := t.TempDir()
		for _, name := range []string{"package.json", "package-lock.json"} {
			text, err := os.ReadFile(filepath.Join(dir, name)) // #nosec G304 -- our own
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(elsewhere, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		harness.InstallNode(t, elsewhere)
	}
}
