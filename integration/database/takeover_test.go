package database

import (
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// takeover is one move from Flipt to Guidon, with the commands of docs/from-flipt.md.
type takeover struct {
	*testing.T
	data   *fliptdbtest.Data
	old    string // URL of Flipt's database
	config string // file of Guidon
	new    string // URL of Guidon's database
}

// run runs a command on the new database, and returns its output.
func (o *takeover) run(success bool, text string, args ...string) string {
	o.Helper()
	command := harness.Command(o, o.new, append(args, "--config", o.config)...)
	command.Env = append(command.Env, "GUIDON_REPLAY_FROM_TOKEN="+fliptdbtest.Token, "GUIDON_REPLAY_TO_TOKEN="+fliptdbtest.Token)
	return harness.Ends(o, command, success, text)
}

// TestTakeover moves from Flipt to Guidon on each database: it translates the configuration,
// takes over the data, starts Guidon beside Flipt, compares every answer, and uses the token
// that a client had. The Flipt is its database, and the evaluations by fliptdbtest.
func TestTakeover(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		dir := t.TempDir()
		old := "file:" + filepath.Join(dir, "flipt.db")
		db, err := sql.Open("sqlite", old)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		takeOver(t, db, "sqlite", old, "file:"+filepath.Join(dir, "guidon.db"))
	})
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		old, dialect := s.Empty(t), "mysql"
		if s.IsPostgres() {
			dialect = "postgres"
		}
		db, err := harness.OpenSQL(old)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		takeOver(t, db, dialect, old, s.Empty(t))
	})
}

func takeOver(t *testing.T, db *sql.DB, dialect, old, target string) {
	o := &takeover{T: t, data: fliptdbtest.Generate(23), old: old, new: target, config: filepath.Join(t.TempDir(), "guidon.yml")}
	if err := o.data.Store(t.Context(), db, dialect); err != nil {
		t.Fatal(err)
	}
	flipt := httptest.NewServer(o.data.Handler())
	defer flipt.Close()

	o.translate()
	o.run(true, "applied", "migrate", "up")
	o.run(true, "dry run", "import", "--from-flipt-database", old, "--dry-run")
	o.run(true, "authentications: 6", "import", "--from-flipt-database", old)
	server := harness.Start(t, target, "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
	for _, address := range []string{server.URL, server.GRPC} {
		out := o.run(true, " different", "replay", "--exit-code", "--generate", "--from", flipt.URL, "--to", address)
		var evaluations, flags, equal int
		if _, err := fmt.Sscanf(out, "%d evaluations of %d flags: %d equal, 0 different\n", &evaluations, &flags, &equal); err != nil || flags != 80 || equal != evaluations || evaluations < 1600 {
			t.Errorf("%s: got %q (%v), want no differences of 80 flags", address, out, err)
		}
		t.Logf("%s to %s: %s", dialect, address[:4], strings.TrimSpace(out))
	}
	o.client(server)
}

// translate translates the configuration, which names a database that is not Flipt's.
func (o *takeover) translate() {
	o.Helper()
	file := filepath.Join(o.TempDir(), "flipt.yml")
	content := fmt.Sprintf("db: {url: %q}\nauthentication: {required: true, methods: {token: {enabled: true}}}\nserver: {http_port: 8080}\n", o.old)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		o.Fatal(err)
	}
	harness.Ends(o, harness.Command(o, "", "config", "import", file, "--out", o.config), true, "wrote "+o.config)
	text, err := os.ReadFile(o.config)
	if err != nil {
		o.Fatal(err)
	}
	if strings.Contains(string(text), o.old) {
		o.Errorf("the configuration of Guidon names Flipt's database:\n%s", text)
	}
	harness.Ends(o, harness.Command(o, "", "config", "check", "--config", o.config), true, "the configuration is valid")
}

// client evaluates with the URL of Guidon and the token of Flipt, and then turns a flag off,
// which a comparison notices.
func (o *takeover) client(server *harness.Server) {
	o.Helper()
	flipt := httptest.NewServer(o.data.Handler())
	defer flipt.Close()
	for _, f := range o.data.Flags {
		if !f.Enabled || f.Type != 1 {
			continue
		}
		body := fmt.Sprintf(`{"namespaceKey":%q,"flagKey":%q,"entityId":"user-1"}`, f.Namespace, f.Key)
		request, err := http.NewRequestWithContext(o.Context(), http.MethodPost, server.URL+"/evaluate/v1/boolean", strings.NewReader(body))
		if err != nil {
			o.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+fliptdbtest.Token)
		response, err := http.DefaultClient.Do(request)
		if err != nil || response.StatusCode != http.StatusOK {
			o.Fatalf("a client with its old token: got %v and %v", response, err)
		}
		_ = response.Body.Close()
		off, err := http.NewRequestWithContext(o.Context(), http.MethodPost, server.URL+"/api/v1/namespaces/"+f.Namespace+"/flags/"+f.Key+"/off", nil)
		if err != nil {
			o.Fatal(err)
		}
		off.Header = request.Header
		if response, err = http.DefaultClient.Do(off); err != nil || response.StatusCode != http.StatusOK {
			o.Fatalf("turning a flag off: got %v and %v", response, err)
		}
		_ = response.Body.Close()
		o.run(false, f.Namespace+"/"+f.Key+": ", "replay", "--exit-code", "--generate", "--from", flipt.URL, "--to", server.URL)
		return
	}
	o.Fatal("there is no flag to turn off")
}
