package machine_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// TestWrite: a file is replaced as a whole, with the mode, and a failed write leaves
// nothing behind.
func TestReplaceFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	write := func(text string, failure error) error {
		return machine.ReplaceFile(path, 0o600, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, failure)
		})
	}
	if err := os.WriteFile(path, []byte("a longer first text"), 0o644); err != nil { // #nosec G306 -- the mode under test
		t.Fatal(err)
	}
	if err := write("second", nil); err != nil {
		t.Fatal(err)
	}
	failure := errors.New("no space left")
	if err := write("third", failure); !errors.Is(err, failure) {
		t.Errorf("got error %v, want %v", err, failure)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "second" {
		t.Errorf("got %q and error %v, want the second text", got, err)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("got %v and error %v, want mode 0600", info.Mode(), err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("the directory has %v, error %v; want only the file", left, err)
	}
}
