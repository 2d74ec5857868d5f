package database

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// nobody is the user and group of a command without privileges.
const nobody = 65534

// guidonAs runs a command to its end, as the user unless that is zero. It returns the exit
// code and the output.
func guidonAs(t *testing.T, user uint32, database string, args ...string) (code int, out string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), harness.Patience) // in case a server starts
	defer cancel()
	command := exec.CommandContext(ctx, harness.Program(t), args...)
	command.Dir = "/"
	command.Env = []string{
		"HOME=" + t.TempDir(), "GUIDON_DB_URL=file:" + database,
		"GUIDON_SERVER_HOST=127.0.0.1", "GUIDON_SERVER_HTTP_PORT=0", "GUIDON_SERVER_GRPC_PORT=0",
	}
	if user != 0 {
		if err := os.Chmod(filepath.Dir(command.Path), 0o755); err != nil { // #nosec G302 -- for that user
			t.Fatal(err)
		}
		command.Env[0] = "HOME=/" // that user cannot read the test's directory
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	}
	text, err := command.CombinedOutput()
	if command.ProcessState == nil {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), string(text)
}

// lastLine returns the last line, which is the error. There may be a log before it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// wantRefused runs the command on the file. It must fail, and the last line of its output
// must contain all the strings.
func wantRefused(t *testing.T, user uint32, database string, args []string, want ...string) {
	t.Helper()
	code, out := guidonAs(t, user, database, args...)
	line := strings.ReplaceAll(lastLine(out), `\"`, `"`)
	missing := slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(line, w) })
	if code != 1 || missing || strings.Contains(out, "panic") {
		t.Errorf("guidon %s on %s: exit code %d, want 1 and %q in the last line of\n%s", strings.Join(args, " "), database, code, want, out)
	}
}

// shopFile returns the absolute path of a document to import.
func shopFile(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "..", "examples", "shop.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOneProcessPerFile: while a server uses a file, no other process writes to it, through
// any path. The error names the process that uses it.
func TestOneProcessPerFile(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "data", "guidon.db")
	s := harness.Start(t, "file:"+file)
	holder := fmt.Sprintf("process %d", s.PID())
	if runtime.GOOS != "linux" {
		holder = "another process"
	}
	writing := [][]string{
		{"server"},
		{"import", shopFile(t)},
		{"import", shopFile(t), "--drop", "--yes"},
		{"migrate", "up"},
		{"cleanup"},
		{"token", "create", "a"},
		{"token", "delete", "8a6e0804-2bd0-4672-b79d-d97027f9071a"},
		{"copy-database", "--to", "file:" + filepath.Join(folder, "copy.db")},
		{"copy-database", "--from", "file:" + filepath.Join(folder, "source.db"), "--to", "file:"}, // path is appended
	}
	if code, out := guidonAs(t, 0, filepath.Join(folder, "source.db"), "migrate", "up"); code != 0 {
		t.Fatal(out)
	}
	refuseAll := func(path string, want ...string) {
		t.Helper()
		for _, args := range writing {
			args = slices.Clone(args)
			if last := len(args) - 1; args[last] == "file:" {
				args[last] += path
			}
			wantRefused(t, 0, path, args, append(want, holder)...)
		}
	}
	links := filepath.Join(folder, "links")
	for _, err := range []error{
		os.Mkdir(links, 0o700),
		os.Symlink(file, filepath.Join(links, "symbolic.db")),
		os.Symlink("symbolic.db", filepath.Join(links, "twice.db")),
		os.Symlink(filepath.Dir(file), filepath.Join(links, "folder")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refuseAll(file)
	for _, path := range []string{"symbolic.db", "twice.db", "folder/guidon.db"} {
		refuseAll(filepath.Join(links, path))
	}
	if code, out := guidonAs(t, 0, filepath.Join(links, "twice.db"), "export"); code != 0 {
		t.Errorf("reading through a link while the server runs: %d, %s", code, out)
	}

	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := strings.TrimPrefix(entry.Name(), "guidon.db"); !slices.Contains([]string{"", "-wal", "-shm"}, name) {
			t.Errorf("the server has created %s; a lock file could be removed by mistake", entry.Name())
		}
	}

	hard := filepath.Join(links, "hard.db")
	if err := os.Link(file, hard); err != nil {
		t.Fatal(err)
	}
	refuseAll(hard, "2 hard links")
	wantRefused(t, 0, hard, []string{"export"}, "2 hard links")

	s.Must(t, "POST", "/api/v1/namespaces/default/flags", map[string]any{"key": "after", "name": "After"}, nil)
	s.Signal(t, syscall.SIGTERM)
	if code := s.Wait(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	wantRefused(t, 0, file, []string{"server"}, "2 hard links")
	if err := os.Remove(hard); err != nil {
		t.Fatal(err)
	}
	again := harness.Start(t, "file:"+filepath.Join(links, "symbolic.db"))
	again.Must(t, "GET", "/api/v1/namespaces/default/flags/after", nil, nil)
}

// TestKilledServerLeavesNoLock: after a server was killed, the next one starts immediately.
// The file is locked even if a server has created it through a dangling link.
func TestKilledServerLeavesNoLock(t *testing.T) {
	folder := t.TempDir()
	file, link := filepath.Join(folder, "guidon.db"), filepath.Join(folder, "link.db")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		s := harness.Start(t, "file:"+link)
		wantRefused(t, 0, file, []string{"import", shopFile(t)}, "in use by", "--address")
		s.Signal(t, syscall.SIGKILL)
		s.Wait(t)
	}
	if code, out := guidonAs(t, 0, file, "import", shopFile(t)); code != 0 {
		t.Errorf("after the last was killed: %d, %s", code, out)
	}
}

// TestReplacedFile: a server whose file was replaced acknowledges no writes, because they
// would be lost at the next start. It works again after a restart.
func TestReplacedFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guidon.db")
	if code, out := guidonAs(t, 0, file+".backup", "import", "--local", shopFile(t)); code != 0 {
		t.Fatal(out)
	}
	s := harness.Start(t, "file:"+file)
	create := map[string]any{"key": "new", "name": "New"}
	if err := os.Rename(file+".backup", file); err != nil {
		t.Fatal(err)
	}
	a, err := s.Call(t.Context(), "POST", "/api/v1/namespaces/default/flags", create)
	if err != nil || a.Status != 503 || !strings.Contains(string(a.Body), "replaced") {
		t.Errorf("a write: got %d %s, %v, want 503 with the reason", a.Status, a.Body, err)
	}
	wantRefused(t, 0, file, []string{"server"}, "in use by", "must be stopped first")
	s.Signal(t, syscall.SIGTERM)
	s.Wait(t)
	again := harness.Start(t, "file:"+file)
	again.Must(t, "GET", "/api/v1/namespaces/default/flags/checkout-redesign", nil, nil)
	again.Must(t, "POST", "/api/v1/namespaces/default/flags", create, nil)
}

// TestUnusableFile: the error names the file, the reason and the remedy. The file does not
// change.
func TestUnusableFile(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.db")
	if code, out := guidonAs(t, 0, good, "import", "--local", shopFile(t)); code != 0 {
		t.Fatal(out)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	damaged := slices.Clone(content)
	for i := len(damaged) / 2; i < len(damaged)/2+8192; i++ {
		damaged[i] = byte(i * 31)
	}
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(i*i>>3 + i*7)
	}
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"noise":           {noise, "is not an SQLite database"},
		"half":            {content[:len(content)/2], "damaged"},
		"a few bytes":     {content[:50], "damaged"},
		"overwritten":     {damaged, "damaged"},
		"text":            {[]byte(strings.Repeat("key: value\n", 1000)), "is not an SQLite database"},
		"a header of its": {append(slices.Clone(content[:100]), noise...), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "guidon.db")
			if err := os.WriteFile(path, c.content, 0o600); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, 0, path, []string{"server"}, path, c.want, "restore a backup")
			wantRefused(t, 0, path, []string{"import", shopFile(t)}, path, c.want, "restore a backup")
			if after, err := os.ReadFile(path); err != nil || string(after) != string(c.content) {
				t.Errorf("the file was changed, or %v", err)
			}
		})
	}
	folder := t.TempDir()
	wantRefused(t, 0, folder, []string{"server"}, folder, "is a directory")
	wantRefused(t, 0, good+"/below.db", []string{"server"}, good, "not a directory")
	wantRefused(t, 0, "/dev/null", []string{"server"}, "/dev/null", "not a regular file")
}

// TestUnusableFolder covers full disks and directories that cannot be written to. It needs
// the privilege to mount file systems.
func TestUnusableFolder(t *testing.T) {
	mount := func(t *testing.T, options string) (folder string) {
		t.Helper()
		folder = t.TempDir()
		if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, options); err != nil {
			harness.Skip(t, "mounting a file system: %v", err)
		}
		if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil { // #nosec G302 -- for the other user
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := syscall.Unmount(folder, 0); err != nil {
				t.Error(err)
			}
		})
		return folder
	}
	good := filepath.Join(t.TempDir(), "good.db")
	if code, out := guidonAs(t, 0, good, "import", "--local", shopFile(t)); code != 0 {
		t.Fatal(out)
	}
	content, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	put := func(t *testing.T, path string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, content, mode); err != nil {
			t.Fatal(err)
		}
	}
	commands := [][]string{{"server"}, {"migrate", "up"}, {"import", "--local", shopFile(t)}}
	t.Run("full, new file", func(t *testing.T) {
		path := filepath.Join(mount(t, "size=64k,mode=0777"), "guidon.db")
		for _, args := range commands {
			wantRefused(t, 0, path, args, path, "disk is full", "free some space")
		}
	})
	t.Run("full, existing file", func(t *testing.T) {
		size := (len(content) + 4095) &^ 4095
		path := filepath.Join(mount(t, fmt.Sprintf("size=%d,mode=0777", size)), "guidon.db")
		put(t, path, 0o600)
		for _, args := range commands {
			wantRefused(t, 0, path, args, path, "disk is full", "free some space")
		}
	})
	t.Run("read-only", func(t *testing.T) {
		folder := mount(t, "mode=0777")
		path := filepath.Join(folder, "guidon.db")
		put(t, path, 0o600)
		if err := syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			harness.Skip(t, "mounting read-only: %v", err)
		}
		for _, database := range []string{path, filepath.Join(folder, "new.db"), filepath.Join(folder, "new", "folder.db")} {
			for _, args := range commands {
				wantRefused(t, 0, database, args, database, "read-only", "mount it writable")
			}
		}
	})
	for name, c := range map[string]struct{ folder, file os.FileMode }{
		"no permission for the folder": {0o755, 0o666},
		"no permission for the file":   {0o777, 0o644},
	} {
		t.Run(name, func(t *testing.T) {
			folder := mount(t, "mode=0777") // unlike temporary directories, open to all users
			path := filepath.Join(folder, "guidon.db")
			put(t, path, c.file)
			for name, mode := range map[string]os.FileMode{path: c.file, folder: c.folder} {
				if err := os.Chmod(name, mode); err != nil {
					t.Fatal(err)
				}
			}
			wantRefused(t, nobody, path, []string{"server"}, path, "no permission", fmt.Sprint(nobody))
		})
	}
}
