package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// load loads a file with the content, and the variables. HOME is an empty directory.
func load(t *testing.T, content string, variables ...string) (*config.Config, error) {
	t.Helper()
	path := write(t, "config.yml", content)
	return config.Load(t.Context(), path, append([]string{"HOME=" + t.TempDir()}, variables...), vault)
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAllProblems: problems of every kind are reported together, so that an operator
// can fix them in one go.
func TestAllProblems(t *testing.T) {
	_, err := load(t, `
version: "2.0"
server:
  protocoll: https
  protocol: httpss
  http_port: 70000
  request_timeout: 30
  cert_file: [a, b]
db:
  url: oracle://user:hunter2@db/guidon
log:
  level: ${NOT_SET}
  keys:
    time: X
    level: X
  level: info
cors:
  enabled: true
  allowed_origins: [shop.example]
metrics: true
authentication:
  required: true
  methods:
    token:
      cleanup:
        interval: 0s
  token: x
`,
		"GUIDON_SERVER_GRPC_PROT=9000",
		"GUIDON_DB_MAX_IDLE_CONN=two",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_GRACE_PERIOD=-1m",
		"GUIDON_AUTHENTICATION_EXCLUDE_EVALUATION=maybe",
		"GUIDON_LOG_EVALUATIONS_ENTITIES=true",
		"GUIDON_SERVER_HOST=a",
		"GUIDON_SERVER_HOST_FILE=/x",
		"GUIDON_DB_URL_FILE=/does/not/exist",
	)
	var problems *config.Error
	if !errors.As(err, &problems) {
		t.Fatalf("got error %v, want a list of problems", err)
	}
	want := []string{
		`line 4: unknown key server.protocoll; did you mean protocol?`,
		`line 5: server.protocol (GUIDON_SERVER_PROTOCOL): must be one of http, https, not "httpss"; did you mean https?`,
		`line 6: server.http_port (GUIDON_SERVER_HTTP_PORT): must be from 0 to 65535, not 70000`,
		`line 7: server.request_timeout (GUIDON_SERVER_REQUEST_TIMEOUT): must have a unit: 30s, 30ms, 30m or 30h`,
		`line 8: server.cert_file (GUIDON_SERVER_CERT_FILE): must be a single value (string)`,
		`line 12: log.level (GUIDON_LOG_LEVEL): the environment variable NOT_SET is not set`,
		`line 16: duplicate key log.level`,
		`line 20: metrics must be a mapping of keys to values`,
		`line 26: authentication.methods.token.cleanup.interval (GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_INTERVAL): must be longer than 0s, not "0s"`,
		`line 27: unknown key authentication.token; did you mean authentication.methods.token.bootstrap.token?`,
		`server.host (GUIDON_SERVER_HOST): must not be set together with GUIDON_SERVER_HOST_FILE`,
		`db.url (GUIDON_DB_URL_FILE): open /does/not/exist: no such file or directory`,
		`db.max_idle_conn (GUIDON_DB_MAX_IDLE_CONN): must be an integer, not "two"`,
		`authentication.exclude.evaluation (GUIDON_AUTHENTICATION_EXCLUDE_EVALUATION): must be true or false, not "maybe"`,
		`authentication.methods.token.cleanup.grace_period (GUIDON_AUTHENTICATION_METHODS_TOKEN_CLEANUP_GRACE_PERIOD): must be longer than 0s, not "-1m"`,
		`environment: unknown variable GUIDON_SERVER_GRPC_PROT; did you mean GUIDON_SERVER_GRPC_PORT?`,
		`version (GUIDON_VERSION): must be 1.0, the only version; write it in quotes`,
		`db.url (GUIDON_DB_URL): must have a known scheme; use file:/path/to/guidon.db, or postgres://, mysql://, mariadb:// or cockroachdb:// with user:password@host:port/database`,
		`log.evaluations.entities (GUIDON_LOG_EVALUATIONS_ENTITIES): requires log.evaluations.enabled`,
		`log.keys.level (GUIDON_LOG_KEYS_LEVEL): must differ from log.keys.time`,
		`cors.allowed_origins (GUIDON_CORS_ALLOWED_ORIGINS): must be * or origins such as https://shop.example, not "shop.example"`,
		`authentication.required (GUIDON_AUTHENTICATION_REQUIRED): would reject every request, because no authentication method is enabled; set authentication.methods.token.enabled (GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED) to true, or enable another one`,
	}
	var got []string
	for _, problem := range problems.Problems {
		text := problem.String()
		if i := strings.Index(text, " line "); i >= 0 && strings.HasPrefix(text, "/") {
			text = text[i+1:]
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the error shows a password")
	}
}

// TestBadValues has one problem in each case.
func TestBadValues(t *testing.T) {
	tests := []struct {
		name     string
		file     string
		variable string
		want     string
	}{
		{"no mapping", "just a string", "", "the file must be a mapping"},
		{"not YAML", "a: [", "", "yaml"},
		{"two documents", "version: '1.0'\n---\nversion: '1.0'\n", "", "must contain only one YAML document"},
		{"https without certificate", "server: {protocol: https}", "", "server.cert_key (GUIDON_SERVER_CERT_KEY): is required if server.protocol is https"},
		{"https with a missing certificate", "server: {protocol: https, cert_file: /no/file, cert_key: /no/file}", "", "server.cert_file (GUIDON_SERVER_CERT_FILE): stat /no/file"},
		{"one port for two listeners", "server: {http_port: 9000}", "", "server.grpc_port (GUIDON_SERVER_GRPC_PORT): must differ from server.http_port"},
		{"host with a port", "server: {host: 'http://x/'}", "", "server.host"},
		{"diagnostics without a port", "server: {diagnostics_address: 127.0.0.1}", "", `server.diagnostics_address (GUIDON_SERVER_DIAGNOSTICS_ADDRESS): must be an address and a port such as 127.0.0.1:8081, or :8081 for all addresses, not "127.0.0.1"`},
		{"diagnostics with a port name", "", "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=:http", "server.diagnostics_address"},
		{"diagnostics with a port out of range", "", "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=:65536", "server.diagnostics_address"},
		{"diagnostics with a scheme", "", "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=http://127.0.0.1:8081", "server.diagnostics_address"},
		{"diagnostics on the HTTP port", "", "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=127.0.0.1:8080", "server.diagnostics_address (GUIDON_SERVER_DIAGNOSTICS_ADDRESS): must have a different port from server.http_port"},
		{"diagnostics on the gRPC port", "", "GUIDON_SERVER_DIAGNOSTICS_ADDRESS=[::1]:9000", "must have a different port from server.grpc_port"},
		{"an allowed host with a port", "", "GUIDON_SERVER_ALLOWED_HOSTS=flags.example:8080", `server.allowed_hosts (GUIDON_SERVER_ALLOWED_HOSTS): must be * or host names such as flags.example, without scheme, port or pattern, not "flags.example:8080"`},
		{"an allowed host with a scheme", "server: {allowed_hosts: ['ok.example', 'https://flags.example']}", "", `not "https://flags.example"`},
		{"an allowed host with a pattern", "", "GUIDON_SERVER_ALLOWED_HOSTS=*.flags.example", `not "*.flags.example"`},
		{"an allowed host that is not a name", "server: {allowed_hosts: ['a..b']}", "", `not "a..b"`},
		{"an empty allowed host", "server: {allowed_hosts: ['']}", "", `server.allowed_hosts`},
		{"an allowed host in another script", "", "GUIDON_SERVER_ALLOWED_HOSTS=flaggen.рф", `server.allowed_hosts`},
		{"a proxy that is not an address", "", "GUIDON_SERVER_TRUSTED_PROXIES=10.0.0.0/8 proxy.example", `server.trusted_proxies (GUIDON_SERVER_TRUSTED_PROXIES): must be networks such as 10.0.0.0/8 or 2001:db8::/32, or IP addresses, not "proxy.example"`},
		{"a network with too many bits", "server: {trusted_proxies: ['10.0.0.0/33']}", "", `must be networks such as`},
		{"a proxy with a port", "", "GUIDON_SERVER_TRUSTED_PROXIES=10.0.0.1:80", `not "10.0.0.1:80"`},
		{"a proxy with a zone", "", "GUIDON_SERVER_TRUSTED_PROXIES=fe80::1%eth0", `must be networks such as`},
		{"a mapped network", "", "GUIDON_SERVER_TRUSTED_PROXIES=::ffff:10.0.0.0/104", `must be networks such as`},
		{"a mapped proxy", "", "GUIDON_SERVER_TRUSTED_PROXIES=::ffff:10.0.0.1", `must be networks such as`},
		{"an address in a network", "", "GUIDON_SERVER_TRUSTED_PROXIES=10.1.2.3/8", `must be the first address of a network, such as 10.0.0.0/8, not "10.1.2.3/8"`},
		{"every IPv4 address", "", "GUIDON_SERVER_TRUSTED_PROXIES=0.0.0.0/0", `must not contain every address`},
		{"every IPv6 address", "", "GUIDON_SERVER_TRUSTED_PROXIES=::/0", `must not contain every address`},
		{"an empty proxy", "server: {trusted_proxies: ['']}", "", `server.trusted_proxies`},
		{"a negative limit of failures", "authentication: {failure_limit: {per_address: -1}}", "", "authentication.failure_limit.per_address (GUIDON_AUTHENTICATION_FAILURE_LIMIT_PER_ADDRESS): must be"},
		{"a negative limit of requests", "authentication: {request_limit: {per_token: -1}}", "", "authentication.request_limit.per_token (GUIDON_AUTHENTICATION_REQUEST_LIMIT_PER_TOKEN): must be"},
		{"a negative total of failures", "", "GUIDON_AUTHENTICATION_FAILURE_LIMIT_TOTAL=-1", "authentication.failure_limit.total (GUIDON_AUTHENTICATION_FAILURE_LIMIT_TOTAL): must be"},
		{"database in memory", "", "GUIDON_DB_URL=file::memory:", "must not be an in-memory database"},
		{"database password that breaks the URL", "db: {url: 'postgres://u:12@secret/x@db/x'}", "", "db.url (GUIDON_DB_URL): has an @ that does not end"},
		{"Redis password that breaks the URL", "db: {url: 'postgres://db/x'}\ncache: {backend: redis, redis: {url: 'redis://:12@secret#x@cache'}}", "", "cache.redis.url (GUIDON_CACHE_REDIS_URL): has an @ that does not end"},
		{"database without scheme", "", "GUIDON_DB_URL=/data/guidon.db", "must have a known scheme"},
		{"database without file", "", "GUIDON_DB_URL=file:", "contains no path"},
		{"unknown option", "", "GUIDON_DB_MIGRATE_ON_START=yes", "must be one of auto, true, false"},
		{"retention too short", "changes: {retention: 23h59m}", "", "changes.retention (GUIDON_CHANGES_RETENTION): must be 0s, which keeps all records, or at least 24h"},
		{"a public URL with a password", "streams: {public_url: 'https://u:s3cret@flags.example'}", "", "streams.public_url (GUIDON_STREAMS_PUBLIC_URL): must be a URL such as https://flags.example/base"},
		{"a public URL that ends in a slash", "streams: {public_url: 'https://flags.example/'}", "", "without a trailing slash"},
		{"a public URL without a scheme", "streams: {public_url: flags.example}", "", "streams.public_url"},
		{"a base path with a query", "", "GUIDON_LAMBDA_BASE_PATH=/flags?a=b", "lambda.base_path (GUIDON_LAMBDA_BASE_PATH): must be a path such as /flags"},
		{"an unknown mode", "", "GUIDON_CACHE_MODE=fast", "cache.mode"},
		{"bounded mode for SQLite", "cache: {mode: bounded}", "", "cache.mode (GUIDON_CACHE_MODE): must be strict for an SQLite file"},
		{"a maximum age too low", "db: {url: 'postgres://db/x'}\ncache: {mode: bounded, max_age: 99ms}", "", "cache.max_age (GUIDON_CACHE_MAX_AGE): must be from 100ms to 1h"},
		{"a maximum age too high", "db: {url: 'mysql://db/x'}\ncache: {mode: bounded, max_age: 61m}", "", "cache.max_age (GUIDON_CACHE_MAX_AGE): must be from 100ms to 1h"},
		{"a maximum age in the mode strict", "", "GUIDON_CACHE_MAX_AGE=5s", "cache.max_age (GUIDON_CACHE_MAX_AGE): requires cache.mode (GUIDON_CACHE_MODE) bounded"},
		{"stale responses for less than the maximum age", "db: {url: 'postgres://db/x'}\ncache: {mode: bounded, max_age: 10s, max_stale: 9s}", "", "cache.max_stale (GUIDON_CACHE_MAX_STALE): must be 0s, which disables stale responses, or at least cache.max_age"},
		{"an unknown backend", "", "GUIDON_CACHE_BACKEND=memcached", "cache.backend"},
		{"Redis for SQLite", "cache: {backend: redis, redis: {url: 'redis://cache'}}", "", "cache.backend (GUIDON_CACHE_BACKEND): must be memory for an SQLite file"},
		{"Redis without an address", "db: {url: 'postgres://db/x'}\ncache: {backend: redis}", "", "cache.redis.url (GUIDON_CACHE_REDIS_URL): is required"},
		{"an unused address of Redis", "", "GUIDON_CACHE_REDIS_URL=redis://cache", "cache.redis.url (GUIDON_CACHE_REDIS_URL): requires cache.backend (GUIDON_CACHE_BACKEND) redis"},
		{"an address of something else", "db: {url: 'postgres://db/x'}\ncache: {backend: redis, redis: {url: 'cache:6379'}}", "", "cache.redis.url (GUIDON_CACHE_REDIS_URL): must have the scheme"},
		{"a wait for Redis that is too long", "cache: {redis: {net_timeout: 2s}}", "", "cache.redis.net_timeout (GUIDON_CACHE_REDIS_NET_TIMEOUT): must be at most 1s"},
		{"keys without a prefix", "cache: {redis: {prefix: ''}}", "", "cache.redis.prefix (GUIDON_CACHE_REDIS_PREFIX): must not be empty"},
		{"empty log key", "log: {keys: {time: ''}}", "", "must not be empty"},
		{"header list", "cors: {allowed_headers: ['A, B']}", "", "must be header names"},
		{"bootstrap token that cannot be sent in a header", "authentication: {methods: {token: {bootstrap: {token: \"s3cr\\tet\"}}}}", "", "printable ASCII"},
		{"metadata that is not a map", "authentication: {methods: {token: {bootstrap: {metadata: [a]}}}}", "", "must be a mapping of strings"},
		{"duplicate metadata in lower case", "authentication: {methods: {token: {bootstrap: {metadata: {A: 1, a: 2}}}}}", "", "duplicate key a"},
		{"list of mappings", "cors: {allowed_origins: [{a: b}]}", "", "must be a list of strings"},
		{"duration in words", "server: {read_timeout: soon}", "", "must be a duration such as"},
		{"key of another group", "http_port: 1", "", "did you mean server.http_port?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := load(t, tt.file, tt.variable)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v, want one with %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "s3cr") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// TestPrecedence: the environment overrides the file, and the file overrides the
// defaults (operations 2.1).
func TestPrecedence(t *testing.T) {
	c, err := load(t, `
server: &server
  http_port: 1
  grpc_port: 2
log:
  level: WARN
  file: ${LOGFILE}
cors:
  allowed_origins: https://a.example https://b.example
authentication:
  methods:
    token:
      bootstrap:
        metadata: {Role: admin, team: "${TEAM}"}
metrics:
`,
		"GUIDON_SERVER_HTTP_PORT=3",
		"LOGFILE=/tmp/x.log",
		"TEAM=shop",
		"GUIDON_LOG_ENCODING=", // empty counts as unset
		"GUIDON_CORS_ALLOWED_HEADERS=A  B",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_METADATA_TEAM=till",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_EXPIRATION=90m",
		"GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN_FILE="+write(t, "token", "s3cret\n"),
		"GUIDON_TOKEN=for commands",
		"GUIDON_SERVICE_HOST=10.0.0.1", "GUIDON_PORT=tcp://10.0.0.1:8080", "GUIDON_PORT_8080_TCP_ADDR=10.0.0.1",
	)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		c.Server.HTTPPort, c.Server.GRPCPort, c.Server.HTTPSPort, c.Log.Level, c.Log.File, c.Log.Encoding,
		c.CORS.AllowedOrigins, c.CORS.AllowedHeaders, c.Metrics.Enabled, c.Authentication.Methods.Token.Bootstrap,
	}
	want := []any{
		3, 2, 443, "warn", "/tmp/x.log", "auto",
		[]string{"https://a.example", "https://b.example"}, []string{"A", "B"}, true,
		config.Bootstrap{Token: "s3cret", Expiration: 90 * time.Minute, Metadata: map[string]string{"role": "admin", "team": "till"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// TestMigrates: the only server of an SQLite file migrates it. With several servers, an
// operator decides when (operations 4.6).
func TestMigrates(t *testing.T) {
	tests := []struct {
		url, word string
		want      bool
	}{
		{"file:/x", "auto", true},
		{"file:/x", "false", false},
		{"postgres://db/x", "auto", false},
		{"mysql://db/x", "TRUE", true},
	}
	for _, tt := range tests {
		c, err := load(t, "", "GUIDON_DB_URL="+tt.url, "GUIDON_DB_MIGRATE_ON_START="+tt.word)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.DB.Migrates(); got != tt.want {
			t.Errorf("%s of %s: got %t, want %t", tt.word, tt.url, got, tt.want)
		}
	}
}

// TestSearch checks the order of operations 2.1, without the system-wide file.
func TestSearch(t *testing.T) {
	home := t.TempDir()
	c, err := config.Load(t.Context(), "", []string{"HOME=" + home}, vault)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/var/opt/guidon"); errors.Is(err, os.ErrNotExist) {
		if got, want := c.DB.URL, "file:"+filepath.Join(home, ".config/guidon/guidon.db"); got != want {
			t.Errorf("database: got %s, want %s", got, want)
		}
	}
	file := filepath.Join(home, "guidon", "config.yml")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("server: {http_port: 7}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = config.Load(t.Context(), "", []string{"HOME=/nowhere", "XDG_CONFIG_HOME=" + home}, vault); err != nil {
		t.Fatal(err)
	}
	if c.Server.HTTPPort != 7 {
		t.Errorf("http_port: got %d, want 7 of %s", c.Server.HTTPPort, file)
	}
	if _, err := config.Load(t.Context(), "/no/such/file", nil, vault); err == nil || !strings.Contains(err.Error(), "guidon config init") {
		t.Errorf("missing file: got error %v, want one with the command to create it", err)
	}
}
