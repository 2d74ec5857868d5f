package harness

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Skip skips the test or, with INTEGRATION=1, as in continuous integration, fails it. It
// also writes the reason to the file TEST_SKIPPED, because go test does not show the output
// of a package that passes.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("INTEGRATION") == "1" {
		t.Fatalf(format, args...)
	}
	if _, isBenchmark := t.(*testing.B); isBenchmark { // package testing does not report their skips
		fmt.Fprintf(os.Stderr, t.Name()+": SKIPPED: "+format+"\n", args...)
	}
	if err := recordSkipped(fmt.Sprintf(format, args...)); err != nil {
		t.Error(err)
	}
	t.Skipf("SKIPPED: "+format, args...)
}

// Omit lists something that tests cannot do anywhere, next to what was skipped.
func Omit(t testing.TB, format string, args ...any) {
	t.Helper()
	if err := recordSkipped(fmt.Sprintf(format, args...)); err != nil {
		t.Error(err)
	}
	t.Logf(format, args...)
}

func recordSkipped(reason string) error {
	path := os.Getenv("TEST_SKIPPED")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) // #nosec G304 G703 -- the file that the caller of go test wants
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, "SKIPPED:", strings.Join(strings.Fields(reason), " "))
	return errors.Join(err, file.Close())
}

func mustSucceed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Full reports whether tests try all combinations (FULL=1). Otherwise those that would take
// minutes try a part of them, which has every case at least once.
func Full() bool { return os.Getenv("FULL") == "1" }
