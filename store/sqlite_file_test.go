package store_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/filelock"
)

func openExclusive(t testing.TB, path string) (*store.DB, error) {
	t.Helper()
	db, err := store.Open(t.Context(), "sqlite:"+path, store.Options{Exclusive: true})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, nil
}

// realDir returns a new directory without symbolic links in its path.
func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func symlink(t testing.TB, target, link string) {
	t.Helper()
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

// Every path to a file opens the same file, whether it exists yet or not.
func TestSymbolicLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		link func(t *testing.T, dir string) (path string) // to dir/real/guidon.db
	}{
		{"to the file", func(t *testing.T, dir string) string {
			symlink(t, filepath.Join(dir, "real", "guidon.db"), filepath.Join(dir, "a.db"))
			return filepath.Join(dir, "a.db")
		}},
		{"relative", func(t *testing.T, dir string) string {
			symlink(t, "real/guidon.db", filepath.Join(dir, "a.db"))
			return filepath.Join(dir, "a.db")
		}},
		{"to a link", func(t *testing.T, dir string) string {
			symlink(t, "real/guidon.db", filepath.Join(dir, "a.db"))
			symlink(t, "a.db", filepath.Join(dir, "b.db"))
			return filepath.Join(dir, "b.db")
		}},
		{"to the directory", func(t *testing.T, dir string) string {
			symlink(t, "real", filepath.Join(dir, "data"))
			return filepath.Join(dir, "data", "guidon.db")
		}},
		{"to a parent directory", func(t *testing.T, dir string) string {
			symlink(t, dir, filepath.Join(dir, "top"))
			return filepath.Join(dir, "top", "real", "guidon.db")
		}},
		{"out of a linked directory", func(t *testing.T, dir string) string {
			if err := os.MkdirAll(filepath.Join(dir, "other", "deep"), 0o700); err != nil {
				t.Fatal(err)
			}
			symlink(t, "other/deep", filepath.Join(dir, "data"))
			symlink(t, "../../real/guidon.db", filepath.Join(dir, "other", "deep", "a.db"))
			return filepath.Join(dir, "data", "a.db")
		}},
	} {
		for _, exists := range []bool{false, true} {
			dir := realDir(t)
			real := filepath.Join(dir, "real", "guidon.db")
			if exists {
				if err := openFile(t, real).Close(); err != nil {
					t.Fatal(err)
				}
			}
			path := c.link(t, dir)
			db, err := openExclusive(t, path)
			if err != nil {
				t.Errorf("%s, exists %t: %v", c.name, exists, err)
				continue
			}
			if db.Path() != real {
				t.Errorf("%s, exists %t: got path %q, want %q", c.name, exists, db.Path(), real)
			}
			if _, err := os.Stat(real + "-wal"); err != nil {
				t.Errorf("%s, exists %t: the log is not next to the file: %v", c.name, exists, err)
			}
			if _, err := openExclusive(t, real); !errors.Is(err, guidon.Unavailable) || !strings.Contains(guidon.PublicMessage(err), real) {
				t.Errorf("%s, exists %t: opened a second time: got %v, want Unavailable", c.name, exists, err)
			}
		}
	}
}

func TestExclusive(t *testing.T) {
	path := filepath.Join(realDir(t), "guidon.db")
	first, err := openExclusive(t, path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openExclusive(t, path)
	held, ok := errors.AsType[*filelock.HeldError](err)
	if !ok || !errors.Is(err, guidon.Unavailable) || held.Holder.PID != os.Getpid() || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the file and process %d", err, os.Getpid())
	}
	second := openFile(t, path) // without Exclusive, for reading
	if err := errors.Join(second.Ping(t.Context()), second.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := openExclusive(t, path); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// A second name would have a log of its own, so the file must not be opened by either
// name, not even to read it.
func TestHardLinks(t *testing.T) {
	dir := realDir(t)
	path, link := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	first, err := openExclusive(t, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, link); err != nil {
		t.Fatal(err)
	}
	_, err = openExclusive(t, link)
	if _, held := errors.AsType[*filelock.HeldError](err); !held || !strings.Contains(err.Error(), "2 hard links") {
		t.Errorf("while it is in use: got %v, want an error that names its holder and the links", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	for _, options := range []store.Options{{}, {Exclusive: true}} {
		for _, name := range []string{path, link} {
			db, err := store.Open(t.Context(), "sqlite:"+name, options)
			if err == nil {
				_ = db.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "2 hard links") {
				t.Errorf("%+v: got error %v, want one with the links", options, err)
			}
		}
	}
	if _, err := os.Stat(link + "-wal"); err == nil {
		t.Error("a log was created for the second name")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if _, err := openExclusive(t, path); err != nil {
		t.Errorf("after the link was removed: %v", err)
	}
}

// If the file of a server is replaced, writes fail, because they would be lost. New
// connections fail too, because they would show the content of the other file.
func TestReplacedFile(t *testing.T) {
	for name, replace := range map[string]func(path string) error{
		"removed":  os.Remove,
		"moved":    func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error { return os.Rename(path+".backup", path) },
		"directory moved": func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(realDir(t), "data", "guidon.db")
			db, err := openExclusive(t, path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
				t.Fatal(err)
			}
			if _, err := db.SQL().ExecContext(t.Context(), "VACUUM INTO ?", path+".backup"); err != nil {
				t.Fatal(err)
			}
			put := func() error {
				_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
					return tx.PutFlag(ctx, &guidon.Flag{Key: "a"})
				})
				return err
			}
			if err := put(); err != nil {
				t.Fatal(err)
			}
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			err = put()
			if !errors.Is(err, guidon.Unavailable) || !strings.Contains(guidon.PublicMessage(err), "replaced") {
				t.Errorf("a write: got %v, want Unavailable", err)
			}
			shot, _, err := db.Snapshot(t.Context(), "default", service.Demand{})
			if err != nil || shot.Revision().Number != 2 {
				t.Errorf("a read on a connection from before: got %v, %v, want revision 2", shot, err)
			}
			db.Reader().SetMaxIdleConns(-1) // closes them
			if err := db.Ping(t.Context()); !errors.Is(err, guidon.Unavailable) {
				t.Errorf("a read on a new connection: got %v, want Unavailable", err)
			}
			if name == "replaced" {
				if _, err := openExclusive(t, path); !errors.Is(err, guidon.Unavailable) || !strings.Contains(err.Error(), "must be stopped") {
					t.Errorf("a second process, which would have the same log: got %v, want Unavailable", err)
				}
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			for _, c := range []struct {
				path     string
				revision int64
			}{
				{map[string]string{"replaced": path}[name], 1},
				{map[string]string{"moved": path + ".old"}[name], 2},
			} {
				if c.path == "" {
					continue
				}
				if got := revisionOf(t, c.path); got != c.revision {
					t.Errorf("%s afterwards: got revision %d, want %d", c.path, got, c.revision)
				}
			}
		})
	}
}

// revisionOf opens the file and returns the revision of the namespace "default".
func revisionOf(t *testing.T, path string) int64 {
	t.Helper()
	db, err := openExclusive(t, path)
	if err != nil {
		t.Fatal(err)
	}
	shot, _, err := db.Snapshot(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return shot.Revision().Number
}

// A file of another program is rejected and not changed.
func TestForeignFile(t *testing.T) {
	path := filepath.Join(realDir(t), "other.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "CREATE TABLE places (id INTEGER)")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openExclusive(t, path)
	if !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), `table "places"`) {
		t.Errorf("got %v, want an error that names the table", err)
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the file was changed, or %v", err)
	}
}
