//go:build unix

package machine_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// TestWriteOwner: a file that root replaces stays that of its owner.
func TestReplaceFileOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 1001, 1002); err != nil {
		t.Fatal(err)
	}
	if err := machine.ReplaceFile(path, 0o640, func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t); owner.Uid != 1001 || owner.Gid != 1002 || info.Mode().Perm() != 0o640 {
		t.Errorf("got owner %d, group %d and mode %v, want 1001, 1002 and 0640", owner.Uid, owner.Gid, info.Mode())
	}
}
