package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	_ "unsafe" // for go:linkname

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// shell runs commands with its own home directory.
type shell struct {
	t        *testing.T
	environ  []string
	terminal bool // standard input and error are a terminal
	height   int  // lines of the terminal that the standard output is, or 0
	input    string
}

// newShell returns a shell with an empty database.
func newShell(t *testing.T, variables ...string) *shell {
	t.Helper()
	s := newEmptyShell(t)
	storetest.WriteSQLiteFile(t, filepath.Join(s.home(), "guidon.db"))
	return s.with(variables...)
}

// newEmptyShell returns a shell whose database does not exist.
func newEmptyShell(t *testing.T, variables ...string) *shell {
	t.Helper()
	home := t.TempDir()
	return &shell{t: t, environ: append([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "GUIDON_DB_URL=file:" + filepath.Join(home, "guidon.db")}, variables...)}
}

// with returns a copy of the shell with additional variables.
func (s *shell) with(variables ...string) *shell {
	c := *s
	c.environ = append(append([]string(nil), s.environ...), variables...)
	return &c
}

// typing returns a copy of the shell at a terminal, with the user's input.
func (s *shell) typing(input string) *shell {
	c := *s
	c.terminal, c.input = true, input
	return &c
}

// onScreen returns a copy of the shell at a terminal with so many lines.
func (s *shell) onScreen(height int) *shell {
	c := *s
	c.terminal, c.height = true, height
	return &c
}

// result is the outcome of a command.
type result struct {
	code     int
	out, err string
}

func (s *shell) run(args ...string) result {
	s.t.Helper()
	var out, err bytes.Buffer
	in := strings.NewReader(s.input)
	p := cli.NewProgram(s.environ, in, &out, &err)
	p.Terminal = func(stream any) bool {
		return s.terminal && (stream == any(in) || stream == any(&err)) || s.height > 0 && stream == any(&out)
	}
	p.Height = func() int { return s.height }
	code := p.Run(s.t.Context(), args, root)
	forgetCompletions()
	return result{code: code, out: out.String(), err: err.String()}
}

// cobra keeps the completions of options, and by them all commands of a program, for as long as the
// process lives. Thousands of programs in one process would need gigabytes.
var (
	//go:linkname completions github.com/spf13/cobra.flagCompletionFunctions
	completions map[*pflag.Flag]cobra.CompletionFunc
	//go:linkname completionsMutex github.com/spf13/cobra.flagCompletionMutex
	completionsMutex *sync.RWMutex
)

func forgetCompletions() {
	completionsMutex.Lock()
	defer completionsMutex.Unlock()
	clear(completions)
}

// ok runs a command that must succeed and returns its standard output.
func (s *shell) ok(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.code != cli.ExitOK {
		s.t.Fatalf("guidon %s: got exit code %d, want 0\n%s%s", strings.Join(args, " "), r.code, r.out, r.err)
	}
	return r.out
}

// fails runs a command that must fail with the code and print all of want.
func (s *shell) fails(code int, args []string, want ...string) result {
	s.t.Helper()
	r := s.run(args...)
	if r.code != code {
		s.t.Errorf("guidon %s: got exit code %d, want %d\n%s%s", strings.Join(args, " "), r.code, code, r.out, r.err)
	}
	for _, text := range want {
		if !strings.Contains(r.err+r.out, text) {
			s.t.Errorf("guidon %s: got %q, want it to contain %q", strings.Join(args, " "), r.err+r.out, text)
		}
	}
	return r
}

func (s *shell) file(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// TestUsage: usage errors are printed to the standard error, with exit code 2 and a
// hint.
func TestUsage(t *testing.T) {
	tests := []struct {
		args []string
		want string
	}{
		{[]string{"sever"}, `unknown command "sever"`},
		{[]string{"token", "creat"}, `did you mean create?`},
		{[]string{"sever"}, "did you mean server?"},
		{[]string{"flag", "history", "x"}, `did you mean "guidon log"?`},
		{[]string{"help", "sever"}, `unknown command "sever" for "guidon"; did you mean server?`},
		{[]string{"help", "token", "creat"}, `unknown command "creat" for "guidon token"; did you mean create?`},
		{[]string{"flag", "explain", "f", "-a", "http://localhost"}, `unknown command "explain" for "guidon flag"; did you mean "guidon explain"?`},
		{[]string{"sever", "-a", "x"}, `unknown command "sever" for "guidon"; did you mean server?`},
		{[]string{"migrate", "upp"}, `unknown command "upp" for "guidon migrate"; did you mean up?`},
		{[]string{"copy-database"}, "--to or --to-file is required"},
		{[]string{"copy-database", "--to", "a.db", "--from", "b.db", "--from-file", "c"}, "--from and --from-file cannot be combined"},
		{[]string{"server", "--prot", "1"}, "unknown flag: --prot"},
		{[]string{"server", "now"}, `unexpected argument "now": guidon server`},
		{[]string{"config", "check", "guidon.yml"}, `unexpected argument "guidon.yml": guidon config check`},
		{[]string{"backup"}, "missing argument <file>: guidon backup <file>"},
		{[]string{"backup", ""}, "missing argument <file>"},
		{[]string{"import"}, "specify at least one file, or - for the standard input"},
		{[]string{"import", "-", "-"}, "only once"},
		{[]string{"import", "x.yaml", "--update", "--drop"}, "--drop and --update cannot be combined"},
		{[]string{"import", "x.yaml", "--exit-code"}, "--exit-code requires --dry-run"},
		{[]string{"export", "-o", "flags.yaml"}, "must be yaml or json; --out names the file"},
		{[]string{"export", "--token", "x"}, "specify it with --address"},
		{[]string{"export", "--address", "localhost"}, "must have the form http://host:8080"},
		{[]string{"validate"}, "specify at least one file"},
		{[]string{"evaluate"}, "missing argument <flag>"},
		{[]string{"evaluate", "a", "b"}, "only one flag is allowed; name an entity with --entity-id"},
		{[]string{"evaluate", "a", "-c", "country"}, "must have the form key=value"},
		{[]string{"token", "create"}, "missing argument <name>"},
		{[]string{"token", "create", "x", "--expires-at", "tomorrow"}, "must be a time"},
		{[]string{"token", "create", "x", "--expires-in", "-1h"}, "must be positive"},
		{[]string{"token", "create", "x", "--expires-in", "0s"}, "must be positive"},
		{[]string{"token", "create", "x", "--expires-at", ""}, "must be a time"},
		{[]string{"token", "create", "x", "--expires-at", "0001-01-01T00:00:00Z"}, "must be in the future"},
		{[]string{"token", "delete"}, "missing argument <id>"},
		{[]string{"reader", "delete"}, "missing argument <name>"},
		{[]string{"login"}, `no server is given: specify it with --address`},
		{[]string{"login", "--address", "localhost:8080"}, "must have the form http://host:8080"},
		{[]string{"login", "--address", "http://localhost", "--token", "gdn_1"}, "the token is read from the standard input"},
		{[]string{"login", "--address", "http://localhost", "--token=gdn_1"}, "the token is read from the standard input"},
		{[]string{"login", "--addres", "http://localhost"}, "unknown flag: --addres"},
		{[]string{"login", "--address", "http://localhost", "--token", "--no-browser"}, "--no-browser and --token cannot be combined"},
		{[]string{"login", "--address", "http://localhost", "--name", "a\nb"}, "invalid --name: must have at most 64 printable characters"},
		{[]string{"login", "--address", "http://localhost", "--name", strings.Repeat("ä", 65)}, "invalid --name"},
		{[]string{"logout"}, `no server is given: specify it with --address`},
		{[]string{"logout", "--address", "localhost"}, "must have the form http://host:8080"},
		{[]string{"session", "list"}, `no server is given: specify it with --address`},
		{[]string{"session", "end", "--address", "http://localhost"}, "missing argument <id>"},
		{[]string{"token", "revoke"}, `--subject is required`},
		{[]string{"token", "revoke", "--subject", ""}, "--subject must not be empty"},
		{[]string{"binding", "create"}, "missing argument <role>"},
		{[]string{"binding", "create", "admin"}, "missing argument <subject>"},
		{[]string{"binding", "create", "admin", ""}, "missing argument <subject>"},
		{[]string{"binding", "create", "admin", "oidc:x:group:a", "b"}, "quote a subject that contains spaces"},
		{[]string{"binding", "delete"}, "missing argument <id>"},
		{[]string{"sign-in", "rotate"}, "did you mean rotate-keys?"},
		{[]string{"whoami"}, `no server is given: specify it with --address`},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			r := newShell(t).fails(cli.ExitUsage, tt.args, tt.want, "--help")
			if r.out != "" || strings.Contains(r.err, "gdn_") {
				t.Errorf("got standard output %q and %q, want no output and no token", r.out, r.err)
			}
		})
	}
}

// TestHelp: every command has a description and an example.
func TestHelp(t *testing.T) {
	s := newShell(t)
	if got := s.ok(); got != s.ok("--help") {
		t.Error("without a command: got something other than the help")
	}
	p := cli.NewProgram(nil, nil, io.Discard, io.Discard)
	commands := root(p).Commands()
	for len(commands) > 0 {
		command := commands[0]
		commands = append(commands[1:], command.Commands()...)
		if command.Short == "" || command.Long == "" {
			t.Errorf("%s has no description", command.CommandPath())
		}
		if !command.HasSubCommands() && command.Example == "" {
			t.Errorf("%s has no example", command.CommandPath())
		}
	}
	if got := s.ok("help", "token", "create"); got != s.ok("token", "create", "--help") {
		t.Errorf("got %q, want the help of the command", got)
	}
	if got := s.ok("migrate", "wait", "--help"); !strings.Contains(got, "(default 5m)") {
		t.Errorf("got %q, want the default timeout without seconds", got)
	}
	for _, want := range []string{"Exit codes:", "130  interrupted"} {
		if !strings.Contains(s.ok("import", "--help"), want) {
			t.Errorf("help lacks %q", want)
		}
	}
	if !strings.Contains(s.ok("completion", "bash"), "guidon") {
		t.Error("no completion for bash")
	}
}

// TestEmptyOptions: an option with the value of a variable that is not set means neither another database nor a rule that always holds.
func TestEmptyOptions(t *testing.T) {
	s := newShell(t)
	s.ok("flag", "create", "beta")
	for _, args := range []string{
		"flag list --db", "flag off beta --db", "restore-backup backup.db --yes --db", "migrate --db", "migrate up --db", "cleanup --config",
		"copy-database --from file:a.db --to", "copy-database --from file:a.db --to-file", "copy-database --to file:a.db --from", "apply . --yes --plan",
		"flag rollout beta 10% --from", "flag rule add beta 10% --until",
	} {
		words := strings.Fields(args)
		s.fails(cli.ExitUsage, append(words, ""), words[len(words)-1]+" must not be empty")
	}
}

func TestVersion(t *testing.T) {
	s := newShell(t)
	if got := s.ok("version"); !strings.HasPrefix(got, "guidon ") || got != s.ok("--version") {
		t.Errorf("got %q, and %q by the option", got, s.ok("--version"))
	}
	if got := s.ok("version", "--output=json"); !strings.Contains(got, `"goVersion": "go1.`) {
		t.Errorf("got %q", got)
	}
}

func TestConfig(t *testing.T) {
	s := newShell(t)
	home := strings.TrimPrefix(s.environ[0], "HOME=")
	path := filepath.Join(home, "guidon", "config.yml")
	if got, want := s.ok("config", "init"), "wrote "+path+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file mode %v, error %v, want one that only the owner can read", info.Mode(), err)
	}
	s.fails(cli.ExitFailure, []string{"config", "init"}, "already exists; overwrite it with --force")
	s.ok("config", "init", "--force")
	s.fails(cli.ExitFailure, []string{"config", "init", home, "--force"}, "is not a file")
	if got := s.ok("config", "init", "-"); !strings.Contains(got, "#http_port: 8080") {
		t.Errorf("got %q", got)
	}
	s.ok("config", "check")
	if got := s.ok("config", "check", "--show"); !strings.Contains(got, `"httpPort": 8080`) {
		t.Errorf("got %q", got)
	}

	bad := s.file("bad.yml", "server: {http_prot: 1}")
	s.with("GUIDON_LOG_LEVEL=loud").fails(cli.ExitFindings, []string{"config", "check", "--config", bad}, "server.http_prot", "GUIDON_LOG_LEVEL")
	s.with("GUIDON_LOG_LEVEL=loud").fails(cli.ExitFailure, []string{"server", "--config", bad}, "2 problems", "server.http_prot", "GUIDON_LOG_LEVEL")

	// What only the drivers of databases understand, too: no server would start.
	for _, test := range []struct{ db, redis, want string }{
		{"postgres://guidon:s3cret@db.example:none/guidon", "", "database URL: invalid port\n"},
		{"mysql://guidon:s3cret@db.example", "", "database URL names no database; use mysql://user:password@host:port/database\n"},
		{"mysql://guidon:s3cret@db.example/guidon", "redis://:s3cret@cache.example?size=3", "cache.redis: "},
	} {
		with := s.with("GUIDON_DB_URL=" + test.db)
		if test.redis != "" {
			with = with.with("GUIDON_CACHE_BACKEND=redis", "GUIDON_CACHE_REDIS_URL="+test.redis, "GUIDON_CACHE_REDIS_MIN_IDLE_CONN=1")
		}
		r := with.fails(cli.ExitFindings, []string{"config", "check"})
		if !strings.HasPrefix(r.out, test.want) || strings.Contains(r.out+r.err, "s3cret") {
			t.Errorf("%s %s: got %q and %q, want %q", test.db, test.redis, r.out, r.err, test.want)
		}
	}
	s.with("GUIDON_DB_URL=mysql://guidon@db.example/guidon").ok("config", "check", "--show")
}

func TestMigrate(t *testing.T) {
	s := newEmptyShell(t)
	s.fails(cli.ExitFailure, []string{"migrate", "status"}, "does not exist", "guidon migrate up")
	if got := s.ok("migrate"); !strings.HasPrefix(got, "applied 9 additions\napplied 1 tables\n") {
		t.Errorf("got %q", got)
	}
	if got := s.ok("migrate", "up"); !strings.HasPrefix(got, "nothing to do") {
		t.Errorf("got %q", got)
	}
	if got := s.ok("migrate", "status"); strings.Contains(got, "pending") || strings.Contains(got, "optional") || !strings.Contains(got, "tables") {
		t.Errorf("got %q", got)
	}
	if got, want := s.ok("migrate", "wait"), "the schema is up to date\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	other := filepath.Join(t.TempDir(), "new", "other.db")
	s.ok("migrate", "--db", other)
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}

// withoutAdditions makes the database one that a release before the step additions has created.
func (s *shell) withoutAdditions() {
	s.t.Helper()
	s.inDatabase(func(ctx context.Context, db *store.DB) {
		if _, err := db.SQL().ExecContext(ctx, "DELETE FROM schema_steps WHERE version_id = 9"); err != nil {
			s.t.Fatal(err)
		}
	})
}

// TestMigrateAdditions: only "migrate additions" applies the step to an existing database.
func TestMigrateAdditions(t *testing.T) {
	s := newEmptyShell(t)
	s.fails(cli.ExitFailure, []string{"migrate", "additions"}, "does not exist")
	s.withoutAdditions()
	if got := s.ok("migrate", "up"); !strings.HasPrefix(got, "nothing to do") {
		t.Errorf("up: got %q", got)
	}
	s.ok("flag", "create", "a") // which also applies pending steps
	const refused = "instances of earlier releases cannot read this; once none is left, run guidon migrate additions"
	file := s.file("not.yaml", `{version: guidon/1, segments: [{key: s, name: S, match_type: ALL_MATCH_TYPE, constraints: [
		{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: v, not: true}]}]}`)
	server := s.serve()
	for _, address := range []string{server.web, server.grpc} {
		for _, command := range [][]string{{"import", file, "--address", address}, {"apply", file, "--yes", "--address", address}} {
			if r := s.fails(cli.ExitFailure, command, refused); strings.Contains(r.err, "changed since") {
				t.Errorf("%q takes the refusal for a conflict: %s", command, r.err)
			}
		}
	}
	server.wait(cli.ExitOK)
	s.fails(cli.ExitFailure, []string{"import", file, "--local"}, refused)
	status := s.ok("migrate", "status")
	if !regexp.MustCompile(`(?m)^9 +additions +optional$`).MatchString(status) || !strings.Contains(status, "run guidon migrate additions") {
		t.Errorf("status: got\n%s", status)
	}
	if got := s.ok("migrate", "status", "-o", "name"); got != "" {
		t.Errorf("the pending steps are %q, want none", got)
	}
	if got := s.ok("migrate", "status", "-o", "json"); strings.Count(got, `"optional": true`) != 1 || strings.Count(got, `"appliedAt": null`) != 1 {
		t.Errorf("status in JSON: got\n%s", got)
	}
	for _, want := range []string{"applied 9 additions\n", "nothing to do: the schema is up to date\n"} {
		if got := s.ok("migrate", "additions"); got != want {
			t.Errorf("additions: got %q, want %q", got, want)
		}
	}
	if got := s.ok("migrate", "status"); strings.Contains(got, "optional") {
		t.Errorf("status: got\n%s", got)
	}
	s.ok("import", file, "--local")
	s.serve()
	s.fails(cli.ExitFailure, []string{"migrate", "additions"}, "in use by process", "stop it first")
}

// TestGrantForMissingNamespace: a token or a binding for a namespace that does not exist is
// created, with a warning.
func TestGrantForMissingNamespace(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	for _, test := range []struct {
		args    []string
		missing string
	}{
		{[]string{"token", "create", "a", "--namespace", "shpo"}, "shpo"},
		{[]string{"token", "create", "b", "--role", "viewer", "--on", "default,pay-*,shpo"}, "shpo"},
		{[]string{"token", "create", "c", "--namespace", "default"}, ""},
		{[]string{"token", "create", "d"}, ""},
		{[]string{"binding", "create", "editor", "oidc:google:sub:1", "--on", "shpo"}, "shpo"},
		{[]string{"binding", "create", "editor", "oidc:google:sub:1", "--on", "default"}, ""},
	} {
		want := ""
		if test.missing != "" {
			want = fmt.Sprintf("warning: namespace %q does not exist\n", test.missing)
		}
		r := s.run(test.args...)
		if got := regexp.MustCompile(`(?m)^warning: .*\n`).FindAllString(r.err, -1); r.code != cli.ExitOK || strings.Join(got, "") != want {
			t.Errorf("%q: got exit code %d, %q; want the warning %q", test.args, r.code, r.err, want)
		}
	}
}

// TestTokens follows the life cycle of a token in a local database.
func TestTokens(t *testing.T) {
	s := newEmptyShell(t)
	s.fails(cli.ExitFailure, []string{"token", "list"}, "does not exist")
	s.fails(cli.ExitFailure, []string{"token", "create", "ci"}, "does not exist")
	s.ok("migrate", "up")
	r := s.run("token", "create", "ci", "--namespace", "shop", "--description", "builds", "--metadata", "team=till")
	token := strings.TrimSpace(r.out)
	if r.code != cli.ExitOK || !strings.HasPrefix(token, "gdn_") || strings.ContainsAny(token, " \n") {
		t.Fatalf("got %+v, want only the token on the standard output", r)
	}
	if strings.Contains(r.err, token) {
		t.Error("the token is also on the standard error")
	}
	s.ok("token", "create", "soon", "--expires-in", "1ns")
	list := s.ok("token", "list")
	for _, want := range []string{"ci", "shop", "never", "soon", "all", "(expired)"} {
		if !strings.Contains(list, want) {
			t.Errorf("list %q lacks %q", list, want)
		}
	}
	if strings.Contains(list+s.ok("token", "list", "--output=json"), token) {
		t.Error("the list shows a token")
	}
	hostile := strings.TrimSpace(s.ok("token", "create", "a\x1b[31m\nb", "--expires-in", "1ns", "-o", "json"))
	if got, want := s.ok("token", "list"), `  "a\x1b[31m\nb"  `; !strings.Contains(got, want) {
		t.Errorf("got %q, want the name %s that cannot control a terminal", got, want)
	}
	s.ok("token", "delete", regexp.MustCompile(`"id": "([^"]+)"`).FindStringSubmatch(hostile)[1])
	// Expired tokens are kept for the grace period.
	if got, want := s.ok("cleanup"), "expired tokens deleted: 0\nold change records deleted: 0\n"; got != want {
		t.Errorf("cleanup: got %q, want %q", got, want)
	}
	if got := s.with("GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_GRACE_PERIOD=1ms").ok("cleanup", "--output=json"); !strings.Contains(got, `"tokens": 1`) {
		t.Errorf("cleanup: got %q, want one token", got)
	}
	id := strings.Fields(strings.Split(s.ok("token", "list"), "\n")[1])[0]
	if got, want := s.ok("token", "delete", id), "deleted token "+id+"\n"; got != want {
		t.Errorf("delete: got %q, want %q", got, want)
	}
	s.fails(cli.ExitFailure, []string{"token", "delete", id}, "not found", "guidon token list")
	if got := s.ok("token", "list", "--output=json"); got != "[]\n" {
		t.Errorf("list: got %q, want an empty one", got)
	}
}

// TestInterrupted: an interrupted command exits with 130.
func TestInterrupted(t *testing.T) {
	s := newShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, err bytes.Buffer
	code := run(ctx, []string{"import", "../../examples/shop.yaml"}, s.environ, strings.NewReader(""), &out, &err)
	if code != cli.ExitInterrupted || !strings.HasSuffix(err.String(), "guidon: interrupted\n") {
		t.Errorf("got exit code %d and %q, want 130", code, err.String())
	}
}

// TestUnanswered: who does not get the response to a change is told that it may have been applied.
func TestUnanswered(t *testing.T) {
	s := newShell(t)
	arrived := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	create := []string{"namespace", "create", "shop", "--address", server.URL}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-arrived
		cancel()
	}()
	var out, err bytes.Buffer
	code := run(ctx, create, s.environ, strings.NewReader(""), &out, &err)
	if want := "guidon: interrupted; the server may have applied the change\n"; code != cli.ExitInterrupted || !strings.HasSuffix(err.String(), want) {
		t.Errorf("got exit code %d and %q, want %q", code, err.String(), want)
	}
	s.fails(cli.ExitFailure, append(create, "--timeout", "50ms"), "no response within 50ms; the server may have applied the change")
	s.fails(cli.ExitFailure, []string{"namespace", "list", "--address", server.URL, "--timeout", "50ms"}, "no response within 50ms\n")
}

// TestInterruptedAtPrompt: a command that waits for input can be interrupted.
func TestInterruptedAtPrompt(t *testing.T) {
	s := newShell(t)
	ctx, cancel := context.WithCancel(t.Context())
	silent, keyboard := io.Pipe()
	defer keyboard.Close()
	var out, err bytes.Buffer
	code := make(chan int)
	go func() { code <- run(ctx, []string{"import", "-"}, s.environ, silent, &out, &err) }()
	if _, err := keyboard.Write([]byte("version: ")); err != nil { // the command is reading now
		t.Fatal(err)
	}
	cancel()
	if got := <-code; got != cli.ExitInterrupted {
		t.Errorf("got exit code %d, want %d", got, cli.ExitInterrupted)
	}
}

// TestTokenRoles: a token gets the role and the namespaces of the flags, and the list shows
// them.
func TestTokenRoles(t *testing.T) {
	s := newShell(t)
	s.ok("migrate", "up")
	s.ok("token", "create", "all")
	s.ok("token", "create", "dashboard", "--role", "viewer", "--on", "shop,pay-*")
	s.ok("token", "create", "cdn", "--role", "client")
	s.ok("token", "create", "ci", "--role", "editor", "--namespace", "shop")
	s.fails(cli.ExitFailure, []string{"token", "create", "x", "--role", "owner"}, "invalid field role: must be evaluator, client, viewer, editor or admin")
	s.fails(cli.ExitFailure, []string{"token", "create", "x", "--on", "a/b"}, "invalid field namespaceKeys[0]")
	// A variable that is not set must not grant more than one that is.
	for _, args := range [][]string{
		{"token", "create", "x", "--on", ""}, {"token", "create", "x", "--namespace", ""}, {"token", "create", "x", "--role", ""},
		{"binding", "create", "admin", "codehost:org:crew", "--on", ""}, {"webhook", "create", "x", "https://receiver.example", "--on", ""},
	} {
		s.fails(cli.ExitUsage, args, args[len(args)-2]+" must not be empty")
	}
	list := s.ok("token", "list")
	for _, want := range []string{`all +admin +all`, `dashboard +viewer +shop,pay-\*`, `cdn +client +all`, `ci +editor +shop`} {
		if !regexp.MustCompile(want).MatchString(list) {
			t.Errorf("the list does not match %q:\n%s", want, list)
		}
	}
	if got, want := s.ok("token", "list", "--output=json"), `"role": "viewer"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want it to contain %s", got, want)
	}
}
