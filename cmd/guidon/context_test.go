package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// withoutDatabase returns a shell like this whose environment names no database.
func (s *shell) withoutDatabase() *shell { return s.with("GUIDON_DB_URL=") }

// TestContexts: commands use the server of the context in use, and its namespace.
func TestContexts(t *testing.T) {
	s := newShell(t)
	first, second := s.serve(), newShell(t).serve()
	s = s.withoutDatabase()
	s.ok("import", s.file("small.yaml", small), "--address", second.web)

	if got, want := s.ok("context", "set", "one", "--address", first.web), "set context one, which is in use\n"; got != want {
		t.Errorf("the first context: got %q, want %q", got, want)
	}
	s.ok("context", "set", "two", "-a", second.grpc, "-n", "small")
	s.fails(cli.ExitFailure, []string{"flag", "get", "one", "-n", "small"}, "not found")
	if got := s.ok("flag", "get", "one", "--address", "two", "-o", "name"); got != "one\n" {
		t.Errorf("--address with a context: got %q", got)
	}
	if got := s.with("GUIDON_ADDRESS=two").ok("flag", "get", "one", "-o", "name"); got != "one\n" {
		t.Errorf("GUIDON_ADDRESS with a context: got %q", got)
	}
	if got, want := s.ok("context", "use", "two"), "context two is in use: "+second.grpc+"\n"; got != want {
		t.Errorf("context use: got %q, want %q", got, want)
	}
	if got := s.ok("flag", "get", "one", "-o", "name"); got != "one\n" {
		t.Errorf("the namespace of the context: got %q", got)
	}
	s.fails(cli.ExitFailure, []string{"flag", "get", "one", "-n", "default"}, `flag "default/one" not found`)
	s.with("GUIDON_NAMESPACE=default").fails(cli.ExitFailure, []string{"flag", "get", "one"}, `flag "default/one" not found`)
	if got := s.ok("export"); !strings.Contains(got, "key: small") {
		t.Errorf("export: got %s, want the namespace of the context", got)
	}
	if got := s.ok("status"); !strings.Contains(got, second.grpc) || !strings.Contains(got, "CONTEXT    two") || !strings.Contains(got, "NAMESPACE  small") {
		t.Errorf("status: got %s", got)
	}
	list := s.ok("context", "list", "-o", "name")
	if list != "one\ntwo\n" {
		t.Errorf("context list: got %q", list)
	}
	if got := s.ok("context", "get", "-o", "json"); !strings.Contains(got, `"name": "two"`) || !strings.Contains(got, `"current": true`) {
		t.Errorf("context get: got %s", got)
	}
	s.ok("context", "delete", "two")
	s.fails(cli.ExitFailure, []string{"context", "get"}, "no context is in use")
	s.fails(cli.ExitFailure, []string{"context", "use", "two"}, `there is no context "two"; there are ["one"]`)
}

// TestProtectedContext: every change is confirmed, at a terminal even with --yes, and named with
// the server and the namespace. Reads and dry runs are not.
func TestProtectedContext(t *testing.T) {
	s := newShell(t)
	server := s.serve()
	s = s.withoutDatabase()
	s.ok("context", "set", "production", "--address", server.web, "--protected")
	s.ok("context", "set", "staging", "--address", server.grpc)
	s.ok("context", "use", "staging")
	if got := s.ok("context", "list"); !strings.Contains(got, server.web+"  -          yes") {
		t.Errorf("context list: got\n%s", got)
	}
	s.ok("flag", "create", "menu")
	create := []string{"flag", "create", "banner", "--context", "production"}
	s.fails(cli.ExitFailure, create, "This changes default at "+server.web+".\nThe context production is protected.\n", "run again with --yes")
	s.typing("no\n").fails(cli.ExitFailure, append(create, "--yes"), "The context production is protected.", "nothing was changed: not confirmed")
	for _, address := range []string{server.web, server.web + "/", "production"} {
		s.fails(cli.ExitFailure, []string{"flag", "off", "menu", "--address", address}, "is protected")
	}
	s.ok(append(create, "--yes")...)
	s.typing("yes\n").ok("flag", "on", "menu", "--everyone", "--context", "production")
	s.typing("yes\n").ok("flag", "delete", "menu", "--context", "production") // asked once
	s.ok("flag", "update", "banner", "--name", "Banner", "--dry-run", "--context", "production")
	s.ok("import", shop, "--dry-run", "--context", "production")
	s.fails(cli.ExitFailure, []string{"import", shop, "--context", "production"}, "is protected")
	s.ok("flag", "list", "--context", "production")
	s.ok("context", "set", "production", "--protected=false")
	s.ok("flag", "off", "banner", "--context", "production")
	s.fails(cli.ExitUsage, []string{"flag", "list", "--context", "production", "--address", "staging"}, "--address and --context cannot be combined")
	s.fails(cli.ExitUsage, []string{"flag", "list", "--context", "production", "--db", "x"}, "--context and --db cannot be combined")
	s.fails(cli.ExitUsage, []string{"flag", "list", "--context", "none"}, `there is no context "none"; there are ["production" "staging"]`)
	s.fails(cli.ExitUsage, []string{"evaluate", "banner", "--context", "production"}, "to connect to the server of a context, name that with --address")
}

// TestDatabaseBeforeContext: what names a database is stronger than the context in use.
func TestDatabaseBeforeContext(t *testing.T) {
	s := newShell(t)
	other := newShell(t).serve()
	path := filepath.Join(t.TempDir(), "local.db")
	s.ok("context", "set", "other", "--address", other.web)
	s.ok("migrate", "--db", path)
	s.ok("flag", "create", "here", "--db", path)
	for name, local := range map[string]*shell{
		"the environment": s.with("GUIDON_DB_URL=file:" + path),
		"a file":          s.withoutDatabase().with("GUIDON_DB_URL_FILE=" + s.file("url", "file:"+path)),
		"its parts":       s.withoutDatabase().with("GUIDON_DB_PROTOCOL=file", "GUIDON_DB_NAME="+path),
	} {
		if got := local.ok("flag", "list", "-o", "name"); got != "here\n" {
			t.Errorf("%s: got %q, want the flags of the database", name, got)
		}
	}
	configured := s.withoutDatabase()
	config := s.file("config.yml", "db:\n  url: file:"+path+"\n")
	for _, args := range [][]string{{"--config", config}, {"--db", path}} {
		if got := configured.ok(append([]string{"flag", "list", "-o", "name"}, args...)...); got != "here\n" {
			t.Errorf("%q: got %q, want the flags of the database", args, got)
		}
	}
	for _, variable := range []string{"", "GUIDON_DB_MAX_OPEN_CONN=5", "GUIDON_DB_PORT=tcp://10.0.0.1:5432", "GUIDON_DB_SERVICE_HOST=10.0.0.1"} {
		if got := configured.with(variable).ok("flag", "list", "-o", "name"); got != "" {
			t.Errorf("%s: got %q, want the flags of the server, which has none", variable, got)
		}
	}
}

func TestContextErrors(t *testing.T) {
	s := newShell(t)
	for _, test := range []struct{ args, want string }{
		{"context set staging", "a new context needs --address"},
		{"context set a/b --address http://x", "must have at most 64 letters"},
		{"context set a --address x", "invalid address"},
		{"context use", "give either the name of a context or --none"},
		{"context use a --none", "give either"},
		{"flag list --address nowhere", `there is no context "nowhere"`},
		{"flag list --address=", "--address must not be empty"},
		{"flag list --timeout 0", "--timeout must be more than 0"},
		{"export --timeout -1s --address http://x", "--timeout must be more than 0"},
		{"replay --generate --from= --to http://x", "--from must not be empty"},
		{"replay --generate --from http://x --to=", "--to must not be empty"},
		{"replay --generate --from http://x --to http://x --from-token-file=", "--from-token-file must not be empty"},
		{"flag off dark-mode --namespace=", "--namespace must not be empty"},
		{"export --namespaces=", "--namespaces must not be empty"},
		{"login --address http://x --context a/b", "invalid --context"},
	} {
		s.fails(cli.ExitUsage, strings.Fields(test.args), test.want)
	}
}

// TestLoginContext: signing in makes a context, and keeps the one there is.
func TestLoginContext(t *testing.T) {
	page, s := newSignInPage(t)
	s = s.withoutDatabase()
	s.ok("context", "set", "mine", "--address", page.address+"/", "--namespace", "shop")
	s.ok("context", "use", "--none")
	if got := s.ok("login", "--address", page.address); !strings.Contains(got, "context mine is in use") {
		t.Errorf("got %q, want the context with the address", got)
	}
	if got := s.ok("context", "get", "-o", "json"); !strings.Contains(got, `"namespace": "shop"`) {
		t.Errorf("got %s, want the namespace kept", got)
	}
	if got := s.ok("whoami", "-o", "name"); got != "Ada\n" {
		t.Errorf("whoami: got %q, want Ada without an address", got)
	}
	s.ok("logout")
	s.fails(cli.ExitFailure, []string{"whoami"}, "not authenticated")
	if got := s.ok("login", "--context", "other"); !strings.Contains(got, "context other is in use") {
		t.Errorf("got %q, want the context of --context", got)
	}
}
