package main

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// uuid is the form of ids.
var uuid = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// firstColumn returns the first column of a table, without its title.
func firstColumn(table string) []string {
	var cells []string
	for line := range strings.Lines(table) {
		cells = append(cells, strings.Fields(line)[0])
	}
	return cells[1:]
}

// inDatabase calls fn with the database of the shell, which no server must be using.
func (s *shell) inDatabase(fn func(ctx context.Context, db *store.DB)) {
	s.t.Helper()
	s.ok("migrate", "up")
	db, err := store.Open(s.t.Context(), "file:"+filepath.Join(s.home(), "guidon.db"), store.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	fn(s.t.Context(), db)
	if err := db.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// everybody admits everybody.
var everybody = &service.AllowList{Everyone: true}

// signInAs creates a session of the subject in the database, and returns its token.
func (s *shell) signInAs(subject string) string {
	s.t.Helper()
	var token string
	s.inDatabase(func(ctx context.Context, db *store.DB) {
		svc := service.NewService(db, time.Now).WithPolicy(&service.Policy{Admissions: map[string]service.Admission{"oidc:google": everybody}})
		var err error
		token, _, err = svc.SignIn(ctx, service.Write{}, service.SignIn{
			Identity: &service.Identity{Method: service.MethodOIDC, Provider: "google", Subject: subject, Metadata: map[string]string{"io.service.auth.name": "Grace"}},
			Client:   service.ClientBrowser, Lifetime: time.Hour,
		})
		if err != nil {
			s.t.Fatal(err)
		}
	})
	return token
}

// TestBindings follows the life cycle of a binding, on the database and through servers.
func TestBindings(t *testing.T) {
	local := newEmptyShell(t, withTokens...)
	server := newShell(t, withTokens...).with("GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + adminToken)
	running := server.serve()
	remote := server.with("GUIDON_TOKEN=" + adminToken)
	local.fails(cli.ExitFailure, []string{"binding", "list"}, "does not exist")
	local.ok("migrate", "up")
	eachWay(t, local, remote, running, func(t *testing.T, s *shell, way string, at func(args ...string) []string) {
		actor := `token:\S+`
		if way == "database" {
			actor = `cli:\S+`
		}
		created := s.ok(at("binding", "create", "editor", "oidc:google:email:Ada@Example.com", "--on", "checkout,pay-*")...)
		line := uuid.String() + ` +editor +checkout,pay-\* +oidc:google:email:ada@example\.com +database +20\S+Z +` + actor + `\n`
		if want := regexp.MustCompile(`^ID +ROLE +NAMESPACES +SUBJECT +SOURCE +CREATED +CREATED BY\n` + line + `$`); !want.MatchString(created) {
			t.Fatalf("create: got %q, want it to match %s", created, want)
		}
		if again := s.ok(at("binding", "create", "editor", "oidc:google:email:ada@example.com", "--on", "pay-*", "--on", "checkout")...); again != created {
			t.Errorf("create again: got %q, want %q", again, created)
		}
		if got := s.ok(at("binding", "create", "viewer", "codehost:org:the crew", "--output=json")...); !strings.Contains(got, `"subject": "codehost:org:the crew"`) || !strings.Contains(got, `"*"`) {
			t.Errorf("create -o json: got %q", got)
		}
		list := s.ok(at("binding", "list")...)
		for _, want := range []string{line, uuid.String() + ` +viewer +all +codehost:org:the crew +database `} {
			if !regexp.MustCompile(want).MatchString(list) {
				t.Errorf("list: got %q, want it to match %s", list, want)
			}
		}
		ids := firstColumn(list)
		s.fails(cli.ExitFailure, at("binding", "delete", ids[0], "none"), `binding "none" not found`, "guidon binding list")
		if got, want := s.ok(at("binding", "delete", ids[0], ids[1])...), "deleted binding "+ids[0]+"\ndeleted binding "+ids[1]+"\n"; got != want {
			t.Errorf("delete: got %q, want %q", got, want)
		}
		if got := s.ok(at("binding", "list", "--output=json")...); got != "[]\n" {
			t.Errorf("list -o json: got %q, want an empty list", got)
		}
		s.fails(cli.ExitFailure, at("binding", "create", "owner", "codehost:org:x"), "invalid field role: must be evaluator, client, viewer, editor or admin")
		s.fails(cli.ExitFailure, at("binding", "create", "admin", "ada@example.com"), "invalid field subject: must have one of the forms")
		s.fails(cli.ExitFailure, at("binding", "create", "admin", "codehost:org:x", "--on", "a/b"), "invalid field namespaceKeys[0]")
	})
	s := server.with("GUIDON_TOKEN=wrong")
	s.fails(cli.ExitFailure, []string{"binding", "list", "-a", running.web}, "not authenticated",
		"does not accept the token of GUIDON_TOKEN or GUIDON_TOKEN_FILE for this: it is unknown, has expired or is limited to a namespace")
	server.fails(cli.ExitFailure, []string{"binding", "list", "-a", running.web, "--token", "wrong"}, "does not accept the token of --token")
	server.fails(cli.ExitFailure, []string{"binding", "create", "admin", "codehost:org:x"}, "in use by process", "--address")
}

// TestConfiguredBindings: the list has the bindings of the configuration, which cannot be
// deleted.
func TestConfiguredBindings(t *testing.T) {
	s := newShell(t, append(withTokens, "GUIDON_AUTHORIZATION_BINDINGS=admin=oidc:google:email:ada@example.com")...)
	s.ok("migrate", "up")
	if got := s.ok("binding", "list"); !regexp.MustCompile(`configuration-1 +admin +all +oidc:google:email:ada@example\.com +configuration +- +-\n`).MatchString(got) {
		t.Errorf("got %q", got)
	}
	s.fails(cli.ExitFailure, []string{"binding", "delete", "configuration-1"}, "is in the configuration", "authorization.bindings")
}

// TestRevoke: the tokens of a subject are listed and deleted, on the database and through
// a server.
func TestRevoke(t *testing.T) {
	const subject = "oidc:google:sub:1234"
	s := newShell(t, withTokens...)
	admin := s.with("GUIDON_TOKEN=" + strings.TrimSpace(s.ok("token", "create", "admin")))
	s.fails(cli.ExitFailure, []string{"token", "revoke", "--subject", subject}, `no sessions or tokens of "`+subject+`" found`)
	s.signInAs(subject)
	s.signInAs("oidc:google:sub:12")
	list := s.ok("token", "list", "--subject", subject)
	if !regexp.MustCompile(`^ID [^\n]+\n` + uuid.String() + ` +Grace +- +- +20\S+Z +20\S+Z\n$`).MatchString(list) {
		t.Errorf("list: got %q, want one session without a role", list)
	}
	if got := s.ok("token", "list"); strings.Contains(got, "Grace") {
		t.Errorf("list: got %q, want static tokens only", got)
	}
	if got, want := s.ok("token", "revoke", "--subject", subject), "deleted sessions and tokens of "+subject+": 1\n"; got != want {
		t.Errorf("revoke: got %q, want %q", got, want)
	}
	if got := s.ok("token", "list", "--subject", subject, "--output=json"); got != "[]\n" {
		t.Errorf("list: got %q, want none", got)
	}

	s.signInAs(subject)
	s.signInAs(subject)
	running := s.serve()
	for _, address := range []string{running.web, running.grpc} {
		if got := admin.ok("token", "list", "--subject", "oidc:google:sub:12", "-a", address); len(uuid.FindAllString(got, -1)) != 1 {
			t.Errorf("list at %s: got %q, want one session", address, got)
		}
	}
	if got, want := admin.ok("token", "revoke", "--subject", subject, "-a", running.web), "deleted sessions and tokens of "+subject+": 2\n"; got != want {
		t.Errorf("revoke: got %q, want %q", got, want)
	}
	if got, want := admin.ok("token", "revoke", "--subject", "oidc:google:sub:12", "-a", running.grpc), "deleted sessions and tokens of oidc:google:sub:12: 1\n"; got != want {
		t.Errorf("revoke: got %q, want %q", got, want)
	}
}

// TestSessions: people list and end their own sessions, and sign out everywhere.
func TestSessions(t *testing.T) {
	const subject = "oidc:google:sub:1234"
	s := newShell(t, append(withTokens,
		"GUIDON_SERVER_PUBLIC_URL=http://127.0.0.1",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_ENABLED=true", "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ISSUER_URL=http://127.0.0.1:1",
		"GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_ID=guidon", "GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_ALLOW_EVERYONE=true")...)
	first, second, third := s.signInAs(subject), s.signInAs(subject), s.signInAs(subject)
	stranger := s.signInAs("oidc:google:sub:5")
	address := s.serve().web
	s.typing(first+"\n").ok("login", "--token", "--address", address)
	list := s.ok("session", "list", "-a", address)
	lines := strings.Split(strings.TrimSpace(list), "\n")[1:]
	if len(lines) != 3 || !strings.HasSuffix(lines[0], "yes") || !strings.HasSuffix(lines[1], "-") || !strings.Contains(lines[2], " oidc ") {
		t.Fatalf("got %q, want three sessions, of which the first is the current one", list)
	}
	if got := s.ok("session", "list", "-a", address, "--output=json"); len(uuid.FindAllString(got, -1)) != 3 {
		t.Errorf("list -o json: got %s, want three sessions", got)
	}
	id := uuid.FindString(lines[1])
	if got, want := s.ok("session", "end", id, "-a", address), "ended session "+id+"\n"; got != want {
		t.Errorf("end: got %q, want %q", got, want)
	}
	valid := func() []bool {
		var all []bool
		for _, token := range []string{first, second, third, stranger} {
			all = append(all, s.run("whoami", "-a", address, "-t", token).code == cli.ExitOK)
		}
		return all
	}
	if diff := cmp.Diff([]bool{true, false, true, true}, valid()); diff != "" {
		t.Errorf("valid tokens after the end of the second (-want +got):\n%s", diff)
	}
	s.fails(cli.ExitFailure, []string{"session", "end", id, "-a", address}, "not found", "guidon session list")
	foreign := uuid.FindString(s.ok("whoami", "-a", address, "-t", stranger))
	s.fails(cli.ExitFailure, []string{"session", "end", foreign, "-a", address}, "not found")

	if got, want := s.ok("logout", "--everywhere", "-a", address), "signed out of "+address+" everywhere\n"; got != want {
		t.Errorf("logout: got %q, want %q", got, want)
	}
	if diff := cmp.Diff([]bool{false, false, false, true}, valid()); diff != "" {
		t.Errorf("valid tokens after signing out everywhere (-want +got):\n%s", diff)
	}
}

// TestRotateKeys: each run leaves one key, with the next number.
func TestRotateKeys(t *testing.T) {
	s := newEmptyShell(t)
	s.fails(cli.ExitFailure, []string{"sign-in", "rotate-keys"}, "does not exist")
	s.ok("migrate", "up")
	var before [32]byte
	for number := range int64(3) {
		out := s.ok("sign-in", "rotate-keys")
		s.inDatabase(func(ctx context.Context, db *store.DB) {
			secrets, err := db.Secrets(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if len(secrets) != 1 || secrets[0].Number != number+1 || secrets[0].Value == before || time.Since(secrets[0].CreatedAt) > time.Minute {
				t.Errorf("run %d: got %d keys, number %d of %s", number+1, len(secrets), secrets[0].Number, secrets[0].CreatedAt)
			}
			before = secrets[0].Value
		})
		if want := regexp.MustCompile(`^made key [123] and deleted the others; restart the servers\n$`); !want.MatchString(out) {
			t.Errorf("got %q", out)
		}
	}
	s.serve()
	s.fails(cli.ExitFailure, []string{"sign-in", "rotate-keys"}, "in use by process", "stop that server first")
}

// TestRoleCompletion: shell completion offers the names of roles.
func TestRoleCompletion(t *testing.T) {
	s := newShell(t)
	for _, args := range [][]string{{"token", "create", "--role", ""}, {"binding", "create", ""}} {
		if got := s.ok(append([]string{"__complete"}, args...)...); !strings.HasPrefix(got, "evaluator\nclient\nviewer\neditor\nadmin\n") {
			t.Errorf("%v: got %q", args, got)
		}
	}
	if got := s.ok("__complete", "binding", "create", "admin", ""); strings.Contains(got, "editor") {
		t.Errorf("subject: got %q", got)
	}
}

// TestDryRunOnServer: commands about namespaces, tokens and bindings have the service check a
// change without making it, over HTTP and over gRPC.
func TestDryRunOnServer(t *testing.T) {
	s := newShell(t)
	s.ok("namespace", "create", "till")
	s.ok("flag", "create", "menu", "-n", "till")
	id := strings.TrimSpace(s.ok("binding", "create", "viewer", "oidc:google:sub:1", "-o", "name"))
	server := s.with("GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true").serve()
	for _, at := range [][]string{{"--address", server.web}, {"--address", server.grpc}} {
		state := func() string {
			return s.ok(append([]string{"namespace", "list", "-o", "json"}, at...)...) + s.ok(append([]string{"token", "list", "-o", "json"}, at...)...) +
				s.ok(append([]string{"binding", "list", "-o", "json"}, at...)...)
		}
		before := state()
		for _, args := range [][]string{
			{"namespace", "create", "shop"}, {"namespace", "update", "till", "--name", "Till"}, {"namespace", "delete", "till", "--force"},
			{"token", "create", "ci"}, {"binding", "create", "admin", "oidc:google:sub:2"}, {"binding", "delete", id},
		} {
			r := s.run(append(append(args, "--dry-run"), at...)...)
			if r.code != cli.ExitOK || !strings.HasSuffix(r.err, "dry run: nothing was changed\n") {
				t.Errorf("%q: got exit code %d, %q and %q", args, r.code, r.out, r.err)
			}
		}
		s.fails(cli.ExitFailure, append([]string{"namespace", "create", "till", "--dry-run"}, at...), `namespace "till" is not unique`)
		s.fails(cli.ExitFailure, append([]string{"namespace", "delete", "till", "--dry-run"}, at...), "till")
		if after := state(); after != before {
			t.Errorf("after dry runs: got\n%s\nwant\n%s", after, before)
		}
	}
}
