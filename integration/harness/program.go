package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// buildDir is the directory of the programs that the tests build. It exists while Run does its work.
var buildDir string

// Run runs the tests of a package, stops the database servers that they shared, and
// returns the exit code. TestMain must call it.
func Run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "guidon-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	buildDir = dir
	// The driver would log each failed attempt while a server is starting.
	if err := mysql.SetLogger(&mysql.NopLogger{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := endDatabases(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// built returns the path of a program that make integration has built for all packages, or "".
func built(name string) string {
	if dir := os.Getenv("TEST_PROGRAMS"); dir != "" {
		return filepath.Join(dir, name)
	}
	return ""
}

var buildProgram = sync.OnceValues(func() (string, error) {
	if path := built("guidon"); path != "" {
		return path, nil
	}
	path := filepath.Join(buildDir, "guidon")
	build := exec.Command("go", "build", "-o", path, "github.com/guidonhq/guidon/cmd/guidon") // #nosec G204 -- our own
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building guidon: %w\n%s", err, out)
	}
	return path, nil
})

// Program returns the path of the guidon program. It is built for the first test that
// needs it.
func Program(t testing.TB) string {
	t.Helper()
	path, err := buildProgram()
	mustSucceed(t, err)
	return path
}

// BuildProgram builds the guidon program as for a release. env is added to the environment of
// the build.
func BuildProgram(path string, env ...string) error {
	return release("build", "OUT="+path, env...)
}

// release makes a target of the Makefile with a variable that says where its result goes.
func release(target, out string, env ...string) error {
	root, err := moduleDir()
	if err != nil {
		return err
	}
	build := exec.Command("make", "-s", "-C", root, target, out) // #nosec G204 -- our own
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0"), env...)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("make %s: %w\n%s", target, err, output)
	}
	return nil
}

var moduleDir = sync.OnceValues(func() (string, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module: %w", err)
	}
	return strings.TrimSpace(string(dir)), nil
})

// ModuleDir returns the directory of the module.
func ModuleDir(t testing.TB) string {
	t.Helper()
	dir, err := moduleDir()
	mustSucceed(t, err)
	return dir
}

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

// LookChromium returns the path of Chromium: chromium-headless-shell, which is its engine without
// windows and takes two thirds of the time, or else chromium.
func LookChromium() (string, error) {
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		path, err = exec.LookPath("chromium")
	}
	return path, err
}
