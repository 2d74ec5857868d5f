package filelock_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/guidonhq/guidon/store/filelock"
)

// asHolder is the environment variable that makes the test program lock the file that
// it names, until its standard input ends.
const asHolder = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(asHolder); path != "" {
		os.Exit(hold(path))
	}
	os.Exit(m.Run())
}

func hold(path string) int {
	if _, err := filelock.Acquire(path); err != nil {
		_, _ = io.WriteString(os.Stdout, err.Error()+"\n")
		return 1
	}
	_, _ = io.WriteString(os.Stdout, "locked\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// holder starts a process that locks the file, and returns its id and a function that
// kills it.
func holder(t *testing.T, path string) (pid int, kill func()) {
	t.Helper()
	process := exec.CommandContext(t.Context(), os.Args[0]) // #nosec G204 -- this program
	process.Env = append(os.Environ(), asHolder+"="+path)
	in, err := process.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = process.Process.Kill()
		_ = in.Close()
		_ = process.Wait() // it was killed
	})
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatalf("the holder printed %q, %v", line, err)
	}
	return process.Process.Pid, kill
}

func acquire(t *testing.T, path string) *filelock.Lock {
	t.Helper()
	lock, err := filelock.Acquire(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lock.Release(); err != nil {
			t.Error(err)
		}
	})
	return lock
}

func wantHeld(t *testing.T, path string, pid int) {
	t.Helper()
	lock, err := filelock.Acquire(path)
	if err == nil {
		_ = lock.Release()
	}
	held, ok := errors.AsType[*filelock.HeldError](err)
	if !ok || held.Path != path || held.Holder.PID != pid || held.Holder.Host != "" {
		t.Errorf("lock of %q: got %v, want one held by process %d", path, err, pid)
	}
}

// A file is locked under each of its names, and the error names the holder, also
// after one holder was killed and another process has locked the file.
func TestAcquireNamesTheHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	link := filepath.Join(t.TempDir(), "b.db")
	pid, kill := holder(t, path)
	if err := os.Link(path, link); err != nil {
		t.Skip(err)
	}
	if runtime.GOOS != "linux" {
		pid = 0
	}
	wantHeld(t, path, pid)
	wantHeld(t, link, pid)
	kill()
	acquire(t, link)
	wantHeld(t, path, os.Getpid())
}

func TestRelease(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	lock := acquire(t, path)
	wantHeld(t, path, os.Getpid())
	for range 2 {
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	acquire(t, path)
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("got files %v, want only the locked one", entries)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want a new file with mode 0600", info, err)
	}
}

func TestVerify(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error {
			return errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			lock := acquire(t, path)
			if err := lock.Verify(); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			if err := lock.Verify(); !errors.Is(err, filelock.ErrReplaced) {
				t.Errorf("got %v, want ErrReplaced", err)
			}
			acquire(t, path) // the path now names another file
		})
	}
}

// Many goroutines lock a file, and every holder removes it: a lock on a file that was
// replaced must not count.
func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	var wg sync.WaitGroup
	var inside, total atomic.Int32
	for range 8 {
		wg.Go(func() {
			for turns := 0; turns < 5; {
				lock, err := filelock.Acquire(path)
				if _, held := errors.AsType[*filelock.HeldError](err); held {
					runtime.Gosched()
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				turns++
				if n := inside.Add(1); n != 1 {
					t.Errorf("%d holders at the same time", n)
				}
				total.Add(1)
				inside.Add(-1)
				if err := errors.Join(os.Remove(path), lock.Release()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if total.Load() != 40 {
		t.Errorf("the lock was acquired %d times, want 40", total.Load())
	}
}
