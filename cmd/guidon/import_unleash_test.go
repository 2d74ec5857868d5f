package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const (
	unleashFeatures = "../../document/unleash/testdata/features.json"
	unleashDocument = "../../document/unleash/testdata/features.yaml"
)

// TestImportUnleash: what is imported from Unleash is what the file has that --out writes, and an
// import can be tried, repeated and limited as that of any file.
func TestImportUnleash(t *testing.T) {
	s := newShell(t)
	want, err := os.ReadFile(unleashDocument)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "flags.yaml")
	messages := s.run("import", "--from", "unleash", unleashFeatures, "--verify", "100", "--out", out).err
	if got, err := os.ReadFile(out); err != nil || cmp.Diff(string(want), string(got)) != "" {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(string(want), string(got)))
	}
	if line := "production: 19 flags, 2 segments, 0 left out; 1900 evaluations, 0 different from Unleash\n"; messages != line {
		t.Errorf("got %q, want %q", messages, line)
	}
	if got := s.ok("import", "--from", "unleash", unleashFeatures, "--verify", "100", "--out", "-"); got != string(want) {
		t.Error("the standard output is not the file")
	}
	if got := s.ok("import", "--from", "unleash", unleashFeatures, "--verify", "100", "--dry-run"); !strings.Contains(got, "production: 22 created") {
		t.Errorf("the dry run prints %q", got)
	}
	s.ok("import", "--from", "unleash", unleashFeatures, "--verify", "100")
	if got := s.ok("export", "--namespaces", "production"); got != string(want) {
		t.Errorf("export after the import (-want +got):\n%s", cmp.Diff(string(want), got))
	}
	s.fails(cli.ExitFailure, []string{"import", "--from", "unleash", unleashFeatures, "--verify", "1"}, "is not unique")
	s.input = `{"features": [{"name": "new"}, {"name": "lost", "dependencies": [{"feature": "nowhere"}]}]}`
	messages = s.run("import", "--from", "unleash", "-", "--environment", "production", "--verify", "9", "--update").err
	if !strings.HasPrefix(messages, "production/lost: left out: it depends on \"nowhere\", which is not in the input\nproduction: 1 flags, 0 segments, 1 left out; 9 evaluations") {
		t.Errorf("got %q", messages)
	}
	if got := s.ok("flag", "list", "-n", "production", "-o", "name"); !strings.Contains(got, "new\n") || strings.Contains(got, "lost") {
		t.Errorf("got the flags %q", got)
	}
}

// TestImportUnleashErrors: mistakes are found before anything is imported.
func TestImportUnleashErrors(t *testing.T) {
	s := newShell(t)
	s.input = `{"features": [}`
	for _, test := range []struct {
		code int
		args string
		want string
	}{
		{cli.ExitUsage, "import x.yaml --verify 5", "can be combined only with --from unleash"},
		{cli.ExitUsage, "import --from-flipt-database x.db --verify 5", "--from-flipt-database and --verify cannot be combined"},
		{cli.ExitUsage, "import --from unleash x.json --out x.yaml --update", "--out and --update cannot be combined"},
		{cli.ExitUsage, "import --from flagd x.json", "must be unleash"},
		{cli.ExitUsage, "import --from unleash", "--from unleash needs one file, - for the standard input, or --url"},
		{cli.ExitUsage, "import --from unleash x.json --url http://unleash.example/api", "--from unleash needs one file"},
		{cli.ExitUsage, "import --from unleash x.json --verify 0", "--verify must be between 1 and 10000000"},
		{cli.ExitUsage, "import --from unleash x.json --url-token-file x", "--url-token-file requires --url"},
		{cli.ExitUsage, "import --from unleash --url http://unleash.example/api", "--url needs a client token of Unleash"},
		{cli.ExitUsage, "import --from unleash --url http://me:secret@unleash.example/api", "invalid --url"},
		{cli.ExitFailure, "import --from unleash nothing.json", "nothing.json"},
		{cli.ExitFailure, "import --from unleash -", "standard input: line 1, column 15: invalid character '}'"},
		{cli.ExitFailure, "import --from unleash " + unleashFeatures + " --environment staging", `there is no environment "staging", only production`},
		{cli.ExitFailure, "import --from unleash " + unleashFeatures + " --verify 1 --out flags.txt", "unknown file format"},
	} {
		s.fails(test.code, strings.Fields(test.args), test.want)
	}
}

// TestImportUnleashDifferences: if a user would get another answer, which Guidon gives for
// properties that are too long for a pattern, nothing is imported or written.
func TestImportUnleashDifferences(t *testing.T) {
	s := newShell(t)
	file := s.file("features.json", `{"features": [{"name": "f", "enabled": true, "strategies": [{"name": "default", "constraints": [
		{"contextName": "p", "operator": "STR_STARTS_WITH", "values": ["a"]},
		{"contextName": "p", "operator": "NOT_IN", "values": ["`+strings.Repeat("a", 5000)+`"], "inverted": true}]}]}]}`)
	out := filepath.Join(t.TempDir(), "flags.yaml")
	for _, args := range [][]string{nil, {"--out", out}, {"--dry-run"}} {
		r := s.fails(cli.ExitFailure, append([]string{"import", "--from", "unleash", file, "--verify", "1000"}, args...),
			`default/f: different: {"Flag":"f","User":{"Properties":{"p":"aaa`, "nothing was imported: ", " evaluations differ from Unleash (listed above)")
		if n := strings.Count(r.err, "different: {"); n != 20 || r.out != "" {
			t.Errorf("%v: got %d differences and %q", args, n, r.out)
		}
	}
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("a file was written: %v", err)
	}
	if got := s.ok("flag", "list", "-o", "name"); got != "" {
		t.Errorf("got the flags %q", got)
	}
}

// TestImportUnleashURL: the features are those of the client API, for which the token is sent there
// and nowhere else.
func TestImportUnleashURL(t *testing.T) {
	const token = "*:production.secret"
	features, err := os.ReadFile(unleashFeatures)
	if err != nil {
		t.Fatal(err)
	}
	var requests []string
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		switch {
		case strings.HasPrefix(r.URL.Path, "/moved"):
			http.Redirect(w, r, "/api/client/features", http.StatusFound)
		case r.Header.Get("Authorization") != token:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			_, _ = w.Write(features) // the client reads all of it
		}
	}))
	defer api.Close()
	s := newShell(t)
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.ok("import", "--from", "unleash", "--url", api.URL+"/api/", "--url-token-file", file, "--verify", "10")
	if diff := cmp.Diff([]string{"GET /api/client/features " + token}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	with := s.with("UNLEASH_TOKEN=" + token)
	with.ok("import", "--from", "unleash", "--url", api.URL+"/api", "--verify", "10", "--update")
	s.with("UNLEASH_TOKEN=other").fails(cli.ExitFailure, []string{"import", "--from", "unleash", "--url", api.URL + "/api"},
		"cannot read "+api.URL+"/api/client/features: unexpected response 401 Unauthorized")
	requests = nil
	with.fails(cli.ExitFailure, []string{"import", "--from", "unleash", "--url", api.URL + "/moved"}, "unexpected response 302 Found")
	if len(requests) != 1 {
		t.Errorf("a redirect is followed: %q", requests)
	}
}
