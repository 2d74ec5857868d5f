package config

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

var update = flag.Bool("update", false, "write docs/configuration.md")

// TestTable checks that every key has unique variables, a documentation and a default.
func TestTable(t *testing.T) {
	variables, described := make(map[string]string), make(map[string]bool)
	take := func(variable, key string) {
		if other, taken := variables[variable]; taken {
			t.Errorf("%s means both %s and %s", variable, other, key)
		}
		variables[variable] = key
	}
	for _, f := range fields(withNames("name")) {
		take(f.variable(), f.key)
		if f.isScalar() {
			take(f.variable()+fileSuffix, f.key)
		}
		described[pattern(f.key, f.named)] = true
		if !strings.HasSuffix(f.doc(), ".") {
			t.Errorf("%s: description %q is not a sentence", f.key, f.doc())
		}
		switch f.value.Kind() {
		case reflect.String, reflect.Map, reflect.Slice:
		default:
			if f.defaultText() == "" {
				t.Errorf("%s has no default", f.key)
			}
		}
	}
	walk(withNames("name"), func(s section) {
		described[pattern(s.key, s.part)] = true
		if !strings.HasSuffix(s.doc(), ".") {
			t.Errorf("%s: description %q is not a sentence", s.key, s.doc())
		}
	}, func(field) {})
	for key := range descriptions() {
		if !described[key] {
			t.Errorf("descriptions.yaml describes %s, which does not exist", key)
		}
	}
}

// sample returns a value for the key that is not its default.
func sample(f field) string {
	if options := f.options(); len(options) > 0 {
		return options[len(options)-1]
	}
	switch f.value.Interface().(type) {
	case time.Duration:
		if low, err := time.ParseDuration(f.tag.Get("min")); err == nil && low > time.Hour {
			return clock.Text(low)
		}
		return "1m7s"
	case int:
		return "77"
	case float64:
		return "0.7"
	case bool:
		return fmt.Sprint(f.tag.Get("default") != "true")
	case []string:
		return "https://x.example https://y.example"
	}
	return "sample"
}

// setAll sets every key to its sample, without checks.
func setAll(t *testing.T) *Config {
	t.Helper()
	c := withNames("name")
	for _, f := range fields(c) {
		if f.isMap() {
			f.value.Set(reflect.ValueOf(map[string]string{"name": "sample"}))
			continue
		}
		if err := f.set(sample(f)); err != nil {
			t.Fatalf("%s: %v", f.key, err)
		}
	}
	return c
}

// TestEveryKeyFromEnvironment sets each key by its variable, then by a file
// that <variable>_FILE names.
func TestEveryKeyFromEnvironment(t *testing.T) {
	want := setAll(t)
	direct, files := environment{}, environment{}
	for i, f := range fields(want) {
		if f.isMap() {
			direct[f.variable()+"_NAME"] = "sample"
			files[f.variable()+"_NAME"] = "sample"
			continue
		}
		direct[f.variable()] = sample(f)
		files[f.variable()] = sample(f)
		if f.isScalar() {
			delete(files, f.variable())
			path := filepath.Join(t.TempDir(), fmt.Sprint(i))
			if err := os.WriteFile(path, []byte(sample(f)+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			files[f.variable()+fileSuffix] = path
		}
	}
	for _, env := range []environment{direct, files} {
		var found problems
		got := standard()
		loadEnvironment(got, env, &found)
		if err := found.err(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("configuration (-want +got):\n%s", diff)
		}
	}
}

// TestEveryKeyFromFile sets each key in a file.
func TestEveryKeyFromFile(t *testing.T) {
	want := setAll(t)
	var text strings.Builder
	walk(want, func(s section) {
		fmt.Fprintf(&text, "%s%s:\n", indentOf(s.key), lastName(s.key))
	}, func(f field) {
		value := sample(f)
		switch {
		case f.isMap() && f.keepsCase():
			value = "{name: sample}"
		case f.isMap():
			value = "{NAME: sample}"
		case f.isList():
			value = "[" + strings.ReplaceAll(value, " ", ", ") + "]"
		}
		fmt.Fprintf(&text, "%s%s: %s\n", indentOf(f.key), f.name(), value)
	})
	path := filepath.Join(t.TempDir(), "config.yml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var found problems
	got := standard()
	loadFile(got, path, environment{}, &found)
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
}

// TestTemplate: the template is the default configuration, as it is and with every key
// uncommented.
func TestTemplate(t *testing.T) {
	keys := regexp.MustCompile(`(?m)^( *)#([a-z])`)
	for name, test := range map[string]struct {
		text string
		want *Config
	}{
		"as it is":    {Template(), standard()},
		"uncommented": {keys.ReplaceAllString(Template(), "$1$2"), withNames(exampleName)},
	} {
		path := filepath.Join(t.TempDir(), "config.yml")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Load(t.Context(), path, os.Environ(), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-default +got):\n%s", name, diff)
		}
	}
	for _, f := range fields(withNames(exampleName)) {
		if !strings.Contains(Template(), f.name()+":") {
			t.Errorf("the template lacks %s", f.key)
		}
	}
}

// TestReference: docs/configuration.md is current; -update writes it.
func TestReference(t *testing.T) {
	const path = "../../../docs/configuration.md"
	if *update {
		if err := os.WriteFile(path, []byte(reference()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), reference()); diff != "" {
		t.Errorf("docs/configuration.md is outdated; run go test ./cmd/internal/config -update (-file +code):\n%s", diff)
	}
	for _, f := range fields(withNames(anyName)) {
		if !strings.Contains(reference(), "| `"+f.key+"` |") {
			t.Errorf("the reference lacks %s", f.key)
		}
	}
}

// TestJSON checks what contract 11 requires of /meta/config.
func TestJSON(t *testing.T) {
	c := setAll(t)
	c.DB.URL = "postgres://user:hunter2@db.example/guidon?password=hunter2"
	c.Authentication.Methods.Token.Bootstrap.Token = "hunter2"
	text := c.JSON()
	for _, secret := range []string{"hunter2", "password", "user:"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	members := []string{
		"version", "audit", "authentication", "authorization", "cache", "cors", "db", "diagnostics", "experimental",
		"log", "meta", "analytics", "server", "storage", "metrics", "tracing", "ui",
		"changes", "lambda", "streams", "webhooks", // additions to the contract
	}
	for _, name := range members {
		if _, ok := root[name]; !ok {
			t.Errorf("member %s is missing", name)
		}
	}
	for name := range root {
		if !slices.Contains(members, name) {
			t.Errorf("member %s is neither in the contract nor an addition", name)
		}
	}
	for _, name := range []string{"log", "ui", "authentication", "audit", "cache", "cors", "server", "storage", "db", "tracing"} {
		if object, _ := root[name].(map[string]any); len(object) == 0 {
			t.Errorf("member %s is empty", name)
		}
	}
	server := root["server"].(map[string]any)
	if got, want := server["readTimeout"], float64(67*time.Second); got != want {
		t.Errorf("server.readTimeout: got %v, want %v nanoseconds", got, want)
	}
	if got, want := root["db"].(map[string]any)["url"], "postgres://db.example/guidon"; got != want {
		t.Errorf("db.url: got %v, want %v", got, want)
	}
}

func TestEngineOf(t *testing.T) {
	tests := map[string]string{
		"file:guidon.db": EngineSQLite, "sqlite:/x": EngineSQLite, "SQLite:x": EngineSQLite,
		"postgres://db/x": EnginePostgres, "postgresql://u:p@db/x": EnginePostgres, "host=db dbname=x": EnginePostgres,
		"cockroach://db/x": EngineCockroach, "cockroachdb://db/x": EngineCockroach, "crdb://db/x": EngineCockroach,
		"mysql://db/x": EngineMySQL, "mariadb://db/x": EngineMySQL, "u:p@tcp(db:3306)/x?tls=true": EngineMySQL, "u@unix(/run/m.sock)/x": EngineMySQL,
		"": "", "guidon.db": "", "/data/guidon.db": "", "./a:b/guidon.x": "", "postgres:x": "", "clickhouse://db/x": "", "/data/u@tcp(x)/y": "",
	}
	for text, want := range tests {
		if got := EngineOf(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestRoleOptions: the default roles may be any role.
func TestRoleOptions(t *testing.T) {
	want := append([]string{service.RoleNone.String()}, service.RoleNames()...)
	found := 0
	for _, f := range fields(&Config{}) {
		if !strings.HasPrefix(f.key, "authorization.default_roles.") {
			continue
		}
		found++
		if diff := cmp.Diff(want, f.options()); diff != "" {
			t.Errorf("options of %s (-want +got):\n%s", f.key, diff)
		}
	}
	if found == 0 {
		t.Error("there are no default roles")
	}
}
