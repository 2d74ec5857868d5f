package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// fliptFile returns a read-only database file of Flipt.
func fliptFile(t *testing.T, data *fliptdbtest.Data) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "flipt.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := data.Store(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportFliptTokenRole: tokens of a Flipt with policies get a role instead of all rights.
func TestImportFliptTokenRole(t *testing.T) {
	s := newShell(t)
	path := fliptFile(t, fliptdbtest.Generate(5))
	s.ok("migrate", "up")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", path, "--token-role", "owner"}, "--token-role must be")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", path, "--token-role", ""}, "--token-role must not be empty")
	s.fails(cli.ExitUsage, []string{"import", "-", "--token-role", "viewer"}, "only with --from-flipt-database")
	s.ok("import", "--from-flipt-database", path, "--token-role", "viewer")
	list := s.ok("token", "list", "--output=json")
	if got, want := strings.Count(list, `"role": "viewer"`), strings.Count(list, "METHOD_TOKEN"); got != want || want == 0 {
		t.Errorf("%d of %d tokens have the role:\n%s", got, want, list)
	}
}

func TestImportFlipt(t *testing.T) {
	s := newShell(t)
	path := fliptFile(t, fliptdbtest.Generate(5))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.ok("migrate", "up")
	dry := s.ok("import", "--from-flipt-database", path, "--dry-run")
	for _, want := range []string{"default: flags 40, segments 14 (dry run", "empty: flags 0, segments 0", "authentications: 6 (dry run", "total: namespaces 3, flags 80, segments 28, authentications 6 (dry run"} {
		if !strings.Contains(dry, want) {
			t.Errorf("dry run %q lacks %q", dry, want)
		}
	}
	if got := s.ok("token", "list"); strings.Contains(got, "client") {
		t.Errorf("the dry run imported tokens: %q", got)
	}
	readOnly := s.with("GUIDON_SERVER_READ_ONLY=true")
	for _, args := range [][]string{{"--dry-run"}, nil} {
		readOnly.fails(cli.ExitFailure, append([]string{"import", "--from-flipt-database", path}, args...), "nothing was imported: the service is read-only")
	}
	// Flipt writes its URL with parameters.
	s.fails(cli.ExitFailure, []string{"import", "--from-flipt-database", path, "-m", "two\nlines"}, "invalid field message")
	s.ok("import", "--from-flipt-database", "file:"+path+"?cache=shared&_fk=true", "-m", "from Flipt")
	for _, args := range [][]string{nil, {"--kind", "authentication"}} {
		if got := s.logged(append(args, "--limit", "1")...); len(got) != 1 || !strings.Contains(got[0], " import from Flipt created") {
			t.Errorf("the log %v is %q, want the reason and the message", args, got)
		}
	}
	if got := s.ok("token", "list"); !strings.Contains(got, "client") || !strings.Contains(got, "scoped") {
		t.Errorf("got tokens %q, want those of Flipt", got)
	}
	for _, args := range [][]string{nil, {"--dry-run"}} {
		if got := s.ok(append([]string{"import", "--from-flipt-database", path}, args...)...); !strings.Contains(got, "nothing was to be done") {
			t.Errorf("the same import again with %q: got %q", args, got)
		}
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("Flipt's file was changed (error %v)", err)
	}
	if left, err := filepath.Glob(path + "-*"); err != nil || len(left) > 0 {
		t.Errorf("files were left next to Flipt's: %v, %v", left, err)
	}

	other := newShell(t)
	other.ok("import", other.file("mine.yaml", strings.Replace(small, "key: small", "key: second", 1)))
	for _, args := range [][]string{{"--dry-run"}, nil} {
		other.fails(cli.ExitFailure, append([]string{"import", "--from-flipt-database", path}, args...), "nothing was imported", `namespace "second" is not empty`, "the flag one")
	}
}

// TestImportFliptDryRunAlone: a dry run needs no database to import into, and creates
// none.
func TestImportFliptDryRunAlone(t *testing.T) {
	data := fliptdbtest.Generate(5)
	data.Authentications[0].Method = 17
	path := fliptFile(t, data)
	home := t.TempDir()
	unnamed := &shell{t: t, environ: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home}}
	named := newEmptyShell(t)
	missing := filepath.Join(t.TempDir(), "missing.db")
	for name, test := range map[string]struct {
		shell *shell
		args  []string
		want  string
	}{
		"not specified":                 {unnamed, nil, "no target database is specified"},
		"configured, does not exist":    {named, nil, "does not exist yet"},
		"given by --db, does not exist": {named, []string{"--db", missing}, "does not exist yet"},
	} {
		t.Run(name, func(t *testing.T) {
			s := *test.shell
			s.t = t
			r := s.run(append([]string{"import", "--from-flipt-database", path, "--damaged", "off", "--dry-run"}, test.args...)...)
			if r.code != cli.ExitOK || !strings.Contains(r.out, "default: flags 40, segments 14 (dry run") {
				t.Errorf("got code %d and %q", r.code, r.out)
			}
			for _, want := range []string{test.want, "did not check for conflicts", "method 17 is unknown"} {
				if !strings.Contains(r.err, want) {
					t.Errorf("got %q, want %q in it", r.err, want)
				}
			}
		})
	}
	for _, dir := range []string{home, filepath.Dir(missing)} {
		err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				t.Errorf("%s was created", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestImportFliptDryRunBesideDefault: an existing default database is not opened.
func TestImportFliptDryRunBesideDefault(t *testing.T) {
	path := fliptFile(t, fliptdbtest.Generate(5))
	home := t.TempDir()
	s := &shell{t: t, environ: []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home}}
	dir := filepath.Join(home, "guidon")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "guidon.db"), []byte("not even a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("import", "--from-flipt-database", path, "--dry-run")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("got %v, error %v, want only the existing file", entries, err)
	}
}

// TestImportFliptDamaged: nothing of a damaged database is imported until the operator has
// chosen what becomes of the damaged flags. A dry run prints the same and ends with the same
// code.
func TestImportFliptDamaged(t *testing.T) {
	data := fliptdbtest.Generate(5)
	rule := &data.Rules[0]
	rule.Operator = 17
	name := "flag " + rule.Namespace + "/" + rule.Flag + ": "
	reason := ": rules " + rule.ID + ": segment operator 17 is unknown"
	path := fliptFile(t, data)
	for _, test := range []struct {
		name string
		args []string
		code int
		want []string
	}{
		{"no choice", nil, cli.ExitFailure, []string{name + "damaged" + reason, "nothing was imported", "damaged flags: 1", "--damaged off", "--damaged omit"}},
		{"off", []string{"--damaged", "off"}, cli.ExitOK, []string{name + "imported off" + reason, "flags imported off: 1", "total: namespaces 3, flags 80,"}},
		{"omit", []string{"--damaged", "omit"}, cli.ExitOK, []string{name + "not imported" + reason, "flags not imported: 1", "total: namespaces 3, flags 79,"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShell(t)
			s.ok("migrate", "up")
			args := append([]string{"import", "--from-flipt-database", path}, test.args...)
			dry, real := s.run(append(args, "--dry-run")...), s.run(args...)
			if got := strings.ReplaceAll(dry.out, " (dry run, nothing was changed)", ""); got != real.out || dry.err != real.err || dry.code != real.code {
				t.Errorf("the dry run gives %+v, the import %+v", dry, real)
			}
			if real.code != test.code {
				t.Errorf("got the code %d, want %d", real.code, test.code)
			}
			for _, want := range test.want {
				if !strings.Contains(real.out+real.err, want) {
					t.Errorf("got %q, want %q in it", real.out+real.err, want)
				}
			}
			if got := s.ok("token", "list", "--output=json"); (got == "[]\n") != (test.code != cli.ExitOK) {
				t.Errorf("got the tokens %s after the code %d", got, real.code)
			}
		})
	}
}

func TestImportFliptUsage(t *testing.T) {
	s := newShell(t)
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", "x.db", "y.yaml"}, "cannot be combined with files")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", "x.db", "--address", "http://127.0.0.1:1"}, "the database directly")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", "x.db", "--update"}, "empty namespaces")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", "x.db", "--yes"}, "never asks")
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", "x.db", "--damaged", "on"}, `--damaged must be off or omit, not "on"`)
	for _, option := range [][]string{{"--damaged", "off"}, {"--ignore-orphans"}} {
		s.fails(cli.ExitUsage, append([]string{"import", "x.yaml"}, option...), "only with --from-flipt-database")
	}
	s.fails(cli.ExitFailure, []string{"import", "--from-flipt-database", "/no/such.db"}, "no such file", "nothing was imported")
	s.fails(cli.ExitFailure, []string{"import", "--from-flipt-database", s.file("x.db", "text")}, "nothing was imported", "not a database")
}
