package integration

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// skip skips the test on a developer's machine, and fails it where INTEGRATION=1
// says that everything has to run, as continuous integration does. The reason goes
// to the file that TEST_SKIPPED names, too: of a package that passes, go test shows
// nothing that it printed.
func skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("INTEGRATION") == "1" {
		t.Fatalf(format, args...)
	}
	if _, isBenchmark := t.(*testing.B); isBenchmark { // whose skips package testing keeps to itself
		fmt.Fprintf(os.Stderr, t.Name()+": SKIPPED: "+format+"\n", args...)
	}
	if err := noteSkipped(fmt.Sprintf(format, args...)); err != nil {
		t.Error(err)
	}
	t.Skipf("SKIPPED: "+format, args...)
}

func noteSkipped(reason string) error {
	path := os.Getenv("TEST_SKIPPED")
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, "SKIPPED:", strings.Join(strings.Fields(reason), " "))
	return errors.Join(err, file.Close())
}
