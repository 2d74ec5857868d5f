package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestConfigImport: the configuration of Flipt, in a file and in variables, becomes one
// that the server accepts. Secrets are only in it.
func TestConfigImport(t *testing.T) {
	s := newShell(t, "FLIPT_SERVER_HTTP_PORT=8181", "FLIPT_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=hunter2", "FLIPT_AUDIT_SINKS_KAFKA_ENCODING=avro")
	old := s.file("flipt.yml", "db: {url: 'postgres://flipt:hunter2@db.example/flipt'}\nserver: {http_port: 8080, grpc_port: 9191}\n")
	target := filepath.Join(t.TempDir(), "guidon.yml")
	r := s.run("config", "import", old, "--from-flipt-environment", "--out", target)
	if r.code != cli.ExitOK || strings.Contains(r.out+r.err, "hunter2") {
		t.Fatalf("got %+v, want success without secrets", r)
	}
	for _, want := range []string{"audit.sinks.kafka.encoding: no counterpart", "guidon migrate up --config " + target, "--from-flipt-database 'postgres://", "db.example/flipt' --dry-run"} {
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("got %q, want it to contain %q", r.out+r.err, want)
		}
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got the mode %v and %v, want one for the owner only", info.Mode(), err)
	}
	text, err := os.ReadFile(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"http_port: 8181\n", "grpc_port: 9191\n", "url: postgres://flipt:hunter2@db.example/guidon\n", "token: hunter2\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got\n%s\nwant it to contain %q", text, want)
		}
	}
	s.with("GUIDON_DB_URL=").ok("config", "check", "--config", target)

	s.fails(cli.ExitFailure, []string{"config", "import", old, "--out", target}, "already exists; overwrite it with --force")
	if err := os.Chmod(target, 0o644); err != nil { // #nosec G302 -- it is what the command must undo
		t.Fatal(err)
	}
	s.ok("config", "import", old, "--out", target, "--force")
	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("overwritten: got the mode %v and %v", info.Mode(), err)
	}

	s.input = `{"server": {"http_port": 1}}`
	if got := s.ok("config", "import", "-"); !strings.Contains(got, "http_port: 1\n") {
		t.Errorf("got %q", got)
	}
	s.fails(cli.ExitUsage, []string{"config", "import"}, "specify Flipt's configuration file")
	s.fails(cli.ExitFailure, []string{"config", "import", filepath.Join(t.TempDir(), "none.yml")}, "no such file")
}

// TestConfigImportRefuses: the draft is written although a key is refused, and no server
// starts with it.
func TestConfigImportRefuses(t *testing.T) {
	s := newShell(t)
	bad := s.file("bad.yml", "server: {http_port: x, grpc_port: 9191}\nauthentication: {required: yess}\n")
	draft := filepath.Join(t.TempDir(), "draft.yml")
	s.fails(cli.ExitFailure, []string{"config", "import", bad, "--out", draft}, "bad.yml line 1: server.http_port: refused:", "line 2: authentication.required: refused", "2 keys are refused")
	text, err := os.ReadFile(draft)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  # http_port: x\n", "  grpc_port: 9191\n", "  # required: yess\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got\n%s\nwant it to contain %q", text, want)
		}
	}
	r := s.run("config", "check", "--config", draft)
	if r.code != cli.ExitFindings || !strings.Contains(r.out, "unknown key unfinished") {
		t.Errorf("checking the draft: got %+v, want that it is not accepted", r)
	}
	r = s.run("config", "import", bad)
	if r.code != cli.ExitFailure || r.out != string(text) {
		t.Errorf("to the standard output: got the code %d and\n%s", r.code, r.out)
	}
}
