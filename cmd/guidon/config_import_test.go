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

// TestConfigImportRefused: what Guidon does not accept is in the file, which "config check", the next
// step, rejects.
func TestConfigImportRefused(t *testing.T) {
	s := newShell(t)
	bad := s.file("bad.yml", "server: {http_port: x, grpc_port: 9191}\nauthentication: {required: yess}\n")
	draft := filepath.Join(t.TempDir(), "draft.yml")
	if got := s.ok("config", "import", bad, "--out", draft); !strings.Contains(got, "next:\n  guidon config check --config "+draft+"\n") {
		t.Errorf("got %q, want the command that checks it", got)
	}
	s.fails(cli.ExitFindings, []string{"config", "check", "--config", draft}, "server.http_port (GUIDON_SERVER_HTTP_PORT): must be an integer", "authentication.required")
	s.fails(cli.ExitFailure, []string{"server", "--config", draft}, "server.http_port")
	s.fails(cli.ExitFailure, []string{"config", "import", s.file("twice.yml", "server: {http_port: 1, http_port: 2}")}, "twice.yml line 1: server.http_port: duplicate key http_port")
}
