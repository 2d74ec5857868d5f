//go:build linux

package filelock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lines have the forms of /proc/locks.
func TestParseLock(t *testing.T) {
	for line, want := range map[string]lockEntry{
		"1: FLOCK  ADVISORY  WRITE 1234 fe:00:131073 0 EOF":             {pid: 1234, device: "fe:00", inode: 131073},
		"12: FLOCK  ADVISORY  WRITE 7 00:2e:18446744073709551615 0 EOF": {pid: 7, device: "00:2e", inode: 18446744073709551615},
		"1: FLOCK  ADVISORY  READ  1234 fe:00:131073 0 EOF":             {},
		"1: POSIX  ADVISORY  WRITE 1234 fe:00:131073 0 EOF":             {},
		"1: -> FLOCK  ADVISORY  WRITE 1234 fe:00:131073 0 EOF":          {},
		"1: FLOCK  ADVISORY  WRITE -1 fe:00:131073 0 EOF":               {},
		"": {},
	} {
		got, ok := parseLock(line)
		if ok != (want.pid != 0) || ok && got != want {
			t.Errorf("%q: got %+v, %t, want %+v", line, got, ok, want)
		}
	}
	for number, want := range map[uint64]string{0xfe00: "fe:00", 0x2e: "00:2e", 0x10300: "103:00", 0x100803: "08:103"} {
		if got := device(number); got != want {
			t.Errorf("device %#x: got %s, want %s", number, got, want)
		}
	}
}

// Files on network file systems are locked by a separate file. The test needs no
// network file system.
func TestLockSeparate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	lock, err := lockSeparate(info, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &HeldError{Path: path, Holder: Holder{PID: os.Getpid()}}
	_, err = lockSeparate(info, path, nil)
	held, _ := errors.AsType[*HeldError](err)
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("second lock (-want +got):\n%s", diff)
	}
	// A process that locks the file itself treats it as the lock of an older release.
	_, err = acquire(path)
	held, _ = errors.AsType[*HeldError](err)
	if diff := cmp.Diff(want, held); diff != "" {
		t.Errorf("lock of the file itself (-want +got):\n%s", diff)
	}
	if err := lock.unlock(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + Suffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the separate file was left behind: %v", err)
	}
	if lock, err = acquire(path); err != nil {
		t.Fatal(err)
	}
	if err := lock.unlock(); err != nil {
		t.Error(err)
	}
}

// The lock file of an older release names its holder. If it is left behind, as when
// the holder was killed, the file can be locked.
func TestOldRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	file, err := os.Create(path + Suffix)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteString("4711\n"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	_, err = Acquire(path)
	held, _ := errors.AsType[*HeldError](err)
	if diff := cmp.Diff(&HeldError{Path: path, Holder: Holder{PID: 4711}}, held); diff != "" {
		t.Errorf("while it is locked (-want +got):\n%s", diff)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	lock, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(); err != nil {
		t.Error(err)
	}
}

// A failed attempt must not close a descriptor of a file that this process uses,
// because that drops its fcntl locks. The test reads the kernel's list to see whether
// they are still there.
func TestDescriptorStaysOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	lock, err := Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	whole := syscall.Flock_t{Type: syscall.F_WRLCK}
	if err := syscall.FcntlFlock(lock.files[0].Fd(), syscall.F_SETLK, &whole); err != nil {
		t.Fatal(err)
	}
	link := path + "2"
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Acquire(link); err == nil {
		t.Fatal("the file was locked twice")
	}
	if _, err := acquire(link); err == nil { // as if it had just been moved there
		t.Fatal("the file was locked twice")
	}
	stat := lock.info.Sys().(*syscall.Stat_t)
	if !hasPOSIXLock(t, os.Getpid(), stat.Ino) {
		t.Error("the fcntl lock is lost")
	}
}

// hasPOSIXLock reports whether the kernel lists an fcntl lock of the process.
func hasPOSIXLock(t *testing.T, pid int, inode uint64) bool {
	t.Helper()
	text, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		// The line differs only in the kind.
		entry, ok := parseLock(strings.Replace(line, "POSIX", "FLOCK", 1))
		if ok && strings.Contains(line, "POSIX") && entry.pid == pid && entry.inode == inode {
			return true
		}
	}
	return false
}
