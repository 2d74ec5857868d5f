package configuration

import (
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

var update = flag.Bool("update", false, "write the expected results")

// TestTranslate compares the translation of a file with the expected one, and what is
// listed about it.
func TestTranslate(t *testing.T) {
	text, err := os.ReadFile("testdata/flipt.yml")
	if err != nil {
		t.Fatal(err)
	}
	result, err := translateFlipt(fliptSource{Name: "flipt.yml", File: text})
	if err != nil {
		t.Fatal(err)
	}
	findings := strings.Join(result.Findings, "\n") + "\n"
	if strings.Contains(findings, "hunter2") {
		t.Errorf("the findings contain a secret:\n%s", findings)
	}
	for path, got := range map[string]string{"testdata/guidon.yml": string(result.Text), "testdata/findings.txt": findings} {
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if err := load(t, result.Text); err == nil || strings.Count(err.Error(), "\n") != strings.Count(err.Error(), "no such file") {
		t.Errorf("got %v, want that only files are missing", err)
	}
	if !result.Server || result.Old != "postgres://flipt:hunter2@db.example:5432/flipt?sslmode=disable" {
		t.Errorf("got Flipt's database %q", result.Old)
	}
}

// TestEveryKey: every key of Flipt alone, in the file and as a variable, is in the result
// or listed.
func TestEveryKey(t *testing.T) {
	for _, key := range keysOfFlipt(t) {
		file := ""
		for i, name := range strings.Split(key, ".") {
			file += "\n" + strings.Repeat(" ", i) + name + ":"
		}
		variable := "FLIPT_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		value := valueOf(key)
		if strings.HasPrefix(value, "{") {
			variable += "_A"
		}
		for _, source := range []fliptSource{{Name: "f", File: []byte(file + " " + value)}, {Environ: []string{variable + "=" + strings.Trim(value, "{}a: ")}}} {
			tr := &translation{source: source, out: new(tree), settings: make(map[string]*setting)}
			if err := tr.read(); err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			tr.translate()
			text, err := tr.out.text()
			if err != nil {
				t.Fatalf("%s: %v", key, err)
			}
			written := strings.Contains(string(text), lastName(key)+":")
			listed := slices.ContainsFunc(tr.Findings, func(f string) bool { return strings.Contains(f, key) || strings.Contains(f, variable) })
			if !written && !listed && key != "storage.type" {
				t.Errorf("%s: got neither a value nor a finding: %q and\n%s", key, tr.Findings, text)
			}
		}
	}
}

// TestEveryKeyDraft: whatever the value of a key is, there is a draft, of which Guidon names the key
// unless it accepts all of it.
func TestEveryKeyDraft(t *testing.T) {
	refused := 0
	for _, key := range keysOfFlipt(t) {
		file := ""
		for i, name := range strings.Split(key, ".") {
			file += "\n" + strings.Repeat(" ", i) + name + ":"
		}
		for _, value := range []string{"x", "-1", "[[1], {a: b}]", "{a: {b: c}}", "''", "null"} {
			result, err := translateFlipt(fliptSource{Name: "f", File: []byte(file + " " + value)})
			if err != nil {
				t.Errorf("%s: %s: %v", key, value, err)
				continue
			}
			problems, ok := errors.AsType[*config.Error](load(t, result.Text))
			if !ok {
				continue
			}
			refused++
			if slices.ContainsFunc(problems.Problems, func(p config.Problem) bool { return p.Key == "" }) {
				t.Errorf("%s: %s: got the problems %v of\n%s", key, value, problems, result.Text)
			}
		}
	}
	if refused < 50 {
		t.Errorf("got %d refused keys, want more", refused)
	}
}

// keysOfFlipt returns the keys of Flipt, with a name for a star.
func keysOfFlipt(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../config/testdata/flipt-keys-v1.61.1.txt")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key := range strings.Lines(string(text)) {
		if !strings.HasPrefix(key, "#") {
			keys = append(keys, strings.ReplaceAll(strings.TrimSpace(key), "*", "google"))
		}
	}
	return keys
}

// valueOf returns a value for a key. Without it, some keys would have no effect in Flipt.
func valueOf(key string) string {
	switch {
	case key == "storage.type" || key == "db.protocol":
		return "postgres"
	case strings.HasSuffix(key, "bootstrap.metadata"), strings.HasSuffix(key, "allowed_teams"), strings.HasSuffix(key, "headers"):
		return "{a: b}"
	}
	return "1s"
}

// TestValues: what becomes of single values.
func TestValues(t *testing.T) {
	const oidc = "FLIPT_AUTHENTICATION_METHODS_OIDC_PROVIDERS_"
	for _, test := range []struct {
		name, file string
		environ    []string
		want       []string // parts of the text
		not        string
		finding    string
	}{
		{name: "nothing", file: "", want: []string{"db.url is not set"}},
		{name: "a file", file: "db: {url: 'file:/data/flipt.db?_fk=1'}", want: []string{"url: file:/data/guidon.db\n"}, finding: "f line 1: db.url: a new file"},
		{name: "a file of that name", file: "db: {url: 'file:/data/guidon.db'}", want: []string{"url: file:/data/guidon_new.db\n"}},
		{name: "a variable as the URL", file: "db: {url: '${FLIPT_URL}'}", want: []string{"url: ${GUIDON_DB_URL}\n"}, not: "FLIPT_URL"},
		{name: "parts", file: "db: {protocol: mysql, host: db, name: flipt, user: u, password: '${PW}'}",
			want: []string{"protocol: mysql\n", "name: guidon\n", "password: '${PW}'\n"}, not: "name: flipt"},
		{name: "a URL and parts", file: "db: {url: 'mysql://u:p@db/flipt', name: x}", want: []string{"url: mysql://u:p@db/guidon"}, not: "\n  name: ", finding: "db.name: is not needed: db.url takes precedence"},
		{name: "libSQL", file: "db: {url: 'libsql://x/y'}", want: []string{"url: ${GUIDON_DB_URL}\n"}},
		{name: "variables win", file: "server: {http_port: 1, grpc_port: 2}", environ: []string{"FLIPT_SERVER_HTTP_PORT=3"}, want: []string{"http_port: 3\n", "grpc_port: 2\n"}},
		{name: "a number as a text", environ: []string{"FLIPT_UI_TOPBAR_LABEL=123: #x", "FLIPT_UI_TOPBAR_COLOR=#abc"}, want: []string{`label: '123: #x'`, `color: '#abc'`}},
		{name: "a secret with line breaks", environ: []string{"FLIPT_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=a\r\n b: c\n"}, want: []string{`token: "a\r\n b: c\n"` + "\n"}},
		{name: "a text that looks like nothing", environ: []string{"FLIPT_UI_TOPBAR_LABEL=null"}, want: []string{`label: "null"`}},
		{name: "a list from a variable", environ: []string{"FLIPT_CORS_ALLOWED_ORIGINS=https://a.example https://b.example"}, want: []string{"- https://a.example\n", "- https://b.example\n"}},
		{name: "a map from variables", environ: []string{"FLIPT_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_METADATA_ROLE=admin"}, want: []string{"metadata:\n", "role: admin\n"}},
		{name: "a provider from variables", environ: []string{oidc + "MY_IDP_ISSUER_URL=https://idp.example", oidc + "MY_IDP_CLIENT_ID=x", oidc + "MY_IDP_REDIRECT_ADDRESS=http://flags.example:8080"},
			want: []string{"my_idp:\n", "allow_everyone: true", "public_url: http://flags.example:8080", "secure: false"}, finding: "added authentication.session.secure: false"},
		{name: "a duration without a unit", file: "server: {grpc_conn_max_age: 60000000000}", want: []string{"grpc_conn_max_age: 1m0s"}, finding: "server.grpc_conn_max_age: has no unit"},
		{name: "Redis with SQLite", file: "cache: {enabled: true, backend: redis}", not: "redis:\n", finding: "an SQLite file has one server"},
		{name: "Redis that is not used", file: "cache: {backend: redis, redis: {host: h}}", not: "url: redis", finding: "cache.enabled is not true"},
		{name: "Redis with a variable", file: "{db: {url: 'mysql://db/flipt'}, cache: {enabled: true, backend: redis, redis: {password: '${PW}'}}}", want: []string{"url: ${GUIDON_CACHE_REDIS_URL}"}},
		{name: "Redis with defaults", file: "{db: {url: 'mysql://db/flipt'}, cache: {enabled: true, backend: redis}}", want: []string{"url: redis://localhost:6379\n"}},
		{name: "roles", file: "authentication: {required: true, methods: {jwt: {enabled: true, jwks_url: 'https://x/y'}}}", want: []string{"any_audience: true", "# Roles are enforced"}, finding: "roles are enforced"},
		{name: "no roles without policies", file: "{authorization: {required: false}, authentication: {required: true, methods: {token: {enabled: true}}}}", not: "required: false", finding: "authorization.required: is left at auto"},
		{name: "flags in Git", file: "storage: {type: git, git: {repository: x, authentication: {basic: {password: hunter2}}}}", want: []string{"# storage.type: no counterpart"}, not: "hunter2", finding: "storage.git.repository, storage.git.authentication.basic.password: no counterpart"},
		{name: "an unknown key", file: "sever: {http_port: 1}", finding: "sever.http_port: is unknown to Flipt"},
		{name: "upper case", file: "Server: {HTTP_Port: 81}", want: []string{"http_port: 81"}},
		{name: "an anchor", file: "x: &p 81\nserver: {http_port: *p}", want: []string{"http_port: 81"}},
		{name: "links of Kubernetes", environ: []string{"FLIPT_PORT=tcp://1.2.3.4:80", "FLIPT_SERVICE_HOST=1.2.3.4", "FLIPT_DB_PORT=tcp://1.2.3.4:80"}, not: "1.2.3.4"},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := translateFlipt(fliptSource{Name: "f", File: []byte(test.file), Environ: test.environ})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(result.Text), want) {
					t.Errorf("got\n%s\nwant it to contain %q", result.Text, want)
				}
			}
			if test.not != "" && strings.Contains(string(result.Text)+strings.Join(result.Findings, ""), test.not) {
				t.Errorf("got\n%s\nwant it not to contain %q", result.Text, test.not)
			}
			if findings := strings.Join(result.Findings, "\n"); !strings.Contains(findings, test.finding) {
				t.Errorf("got the findings\n%s\nwant %q", findings, test.finding)
			}
		})
	}
}

func TestRejected(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"a: [", "f: must be YAML or JSON"},
		{"[]", "f line 1: must be a mapping"},
		{"server: {http_port: 1, HTTP_PORT: 2}", "f line 1: server.http_port: duplicate key HTTP_PORT"},
		{"server: {}\n<<: {a: b}", "f line 2: <<: is not supported; write the keys out"},
		{strings.Repeat("{a: ", 30) + "b" + strings.Repeat("}", 30), "a: is nested too deeply"},
	} {
		_, err := translateFlipt(fliptSource{Name: "f", File: []byte(test.file)})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %q", test.file, err, test.want)
		}
	}
}

// TestRefused: what Guidon does not accept is translated as it is, so that no server starts with it.
func TestRefused(t *testing.T) {
	const provider = "authentication: {methods: {oidc: {providers: {my_authorize_params: {issuer_url: 'https://idp.example', client_secret: hunter2}}}}}"
	for _, test := range []struct{ name, file, want string }{
		{"a value", "server: {http_port: x, grpc_port: 9191}", `server.http_port (GUIDON_SERVER_HTTP_PORT): must be an integer, not "x"`},
		{"a value that does not go with another", "server: {http_port: 81, grpc_port: 81}", "must differ from server.http_port"},
		{"a list of mappings", "cors: {allowed_origins: [{a: b}]}", "must be a list of strings"},
		{"a mapping of lists", "tracing: {otlp: {headers: {a: [b]}}}", "tracing.otlp.headers (GUIDON_TRACING_OTLP_HEADERS): a must be a string"},
		{"a mapping", "server: {http_port: {a: {b: c}}}", "server.http_port (GUIDON_SERVER_HTTP_PORT): must be a single value (integer)"},
		{"a switch", "authentication: {required: yess}", "authentication.required (GUIDON_AUTHENTICATION_REQUIRED): "},
		{"an unknown protocol", "db: {protocol: libsql, host: h, name: n, user: u, password: hunter2}", "db.protocol (GUIDON_DB_PROTOCOL): "},
		{"a name", provider, `the name "my_authorize_params" must not contain authorize_params`},
	} {
		t.Run(test.name, func(t *testing.T) {
			result, err := translateFlipt(fliptSource{Name: "f", File: []byte(test.file)})
			if err != nil {
				t.Fatal(err)
			}
			if err := load(t, result.Text); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q of\n%s", err, test.want, result.Text)
			}
		})
	}
}

// load returns the error of loading the text as a configuration.
func load(t *testing.T, text []byte) error {
	t.Helper()
	_, err := config.LoadText(t.Context(), "f", text, []string{"HOME=/", "GID=x", "GHSECRET=x"}, nil)
	return err
}
