package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// The path is taken literally, whatever characters it contains.
func TestOpenPaths(t *testing.T) {
	for _, name := range []string{
		"plain.db", "with space.db", "100%.db", "a%20b.db", "what?.db", "a#b.db", "ünï.db", "semi;colon&and=.db", "missing/folders/a.db",
	} {
		for _, scheme := range []string{"sqlite:", "sqlite://", "file:", "file://", "SQLite:"} {
			path := filepath.Join(t.TempDir(), name)
			db, err := store.Open(t.Context(), scheme+path, store.Options{})
			if err != nil {
				t.Errorf("%s%s: %v", scheme, name, err)
				continue
			}
			if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
				t.Errorf("%s%s: migrate: %v", scheme, name, err)
			}
			if _, _, err := db.Snapshot(t.Context(), "default", service.Demand{}); err != nil {
				t.Errorf("%s%s: %v", scheme, name, err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s%s created another file: %v", scheme, name, err)
			} else if info.Mode().Perm() != 0o600 {
				t.Errorf("%s%s has mode %v, want 0600", scheme, name, info.Mode())
			}
			if db.Path() != path {
				t.Errorf("got path %q, want %q", db.Path(), path)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestOpenRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	db, err := store.Open(t.Context(), "file:data/guidon.db", store.Options{MaxOpenConns: 2, MaxIdleConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := os.Stat("data/guidon.db"); err != nil {
		t.Error(err)
	}
	if err := db.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestOpenRejects(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database. ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, want string }{
		{"", "no known scheme"},
		{"guidon.db", "no known scheme"},
		{"oracle://localhost/x", `unknown scheme "oracle"`},
		{"sqlite:", "names no file"},
		{"sqlite://", "names no file"},
		{"file::memory:", "in-memory"},
		{"file:x?mode=memory", "parameters"},
		{"file:x.db?cache=shared", "parameters"},
		{"file:a\x00b", "NUL"},
		{"sqlite:" + dir, "is a directory"},
		{"sqlite:" + text, "is not an SQLite database"},
		{"sqlite:" + text + "/below", "not a directory"},
	} {
		db, err := store.Open(t.Context(), c.url, store.Options{})
		if err == nil {
			_ = db.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want one with %q", c.url, err, c.want)
		}
	}
}

// Callers get Unavailable, not the error of the database.
func TestUnavailable(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, snapshotErr := db.Snapshot(t.Context(), "default", service.Demand{})
	_, changesErr := db.Changes(t.Context(), change.Query{Namespace: "default", Limit: 1})
	_, _, authErr := db.Authentications(t.Context(), service.Demand{}, "")
	_, listErr := db.Namespaces(t.Context())
	_, updateErr := db.Update(t.Context(), "default", service.Write{}, func(context.Context, service.Tx) error { return nil })
	_, headsErr := db.Heads(t.Context(), []string{"default"})
	for name, err := range map[string]error{
		"Ping": db.Ping(t.Context()), "Snapshot": snapshotErr, "Changes": changesErr, "Authentications": authErr,
		"Namespaces": listErr, "Heads": headsErr,
		"Update": updateErr,
	} {
		if !errors.Is(err, guidon.Unavailable) {
			t.Errorf("%s on a closed database: got %v, want Unavailable", name, err)
		}
	}
}

// A full disk is simulated by a limit on the pages of the file.
func TestFullDisk(t *testing.T) {
	db := storetest.NewSQLite(t)
	var pages int64
	if err := db.SQL().QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), "PRAGMA max_page_count = 60"); err != nil {
		t.Fatal(err)
	}
	put := func(size int) error {
		_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: "small"}),
				tx.PutFlag(ctx, &guidon.Flag{Key: "large", Description: strings.Repeat("x", size)}))
		})
		return err
	}
	err := put(1 << 20)
	if !errors.Is(err, guidon.Unavailable) || guidon.PublicMessage(err) != "the database's disk is full" {
		t.Fatalf("got %v (%q), want a full disk", err, guidon.PublicMessage(err))
	}
	shot, _, err := db.Snapshot(t.Context(), "default", service.Demand{})
	if err != nil || shot.Revision().Number != 1 || len(shot.Flags()) != 0 {
		t.Errorf("got %v, %v, want nothing stored", shot, err)
	}
	if err := put(10); err != nil {
		t.Errorf("a later write that fits: %v", err)
	}
}

func TestReadOnlyFile(t *testing.T) {
	db := storetest.NewSQLite(t)
	if _, err := db.SQL().ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	_, err := db.Update(t.Context(), "default", service.Write{}, func(context.Context, service.Tx) error { return nil })
	if !errors.Is(err, guidon.Unavailable) {
		t.Errorf("got %v, want Unavailable", err)
	}
	if strings.Contains(guidon.PublicMessage(err), "query_only") {
		t.Errorf("the message shows the driver's text: %q", guidon.PublicMessage(err))
	}
}
