package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const shop = "../../examples/shop.yaml"

const small = `version: "1.4"
namespace:
  key: small
  name: Small
flags:
  - key: one
    name: One
    type: BOOLEAN_FLAG_TYPE
    enabled: true
  - key: two
    name: Two
    type: VARIANT_FLAG_TYPE
    enabled: false
`

// TestRoundTrip: exporting what was imported returns the same bytes (contract 13.2).
func TestRoundTrip(t *testing.T) {
	s := newShell(t)
	want, err := os.ReadFile(shop)
	if err != nil {
		t.Fatal(err)
	}
	out := s.ok("import", shop)
	for _, text := range []string{"default: ", "warehouse: ", " created, 0 updated, 0 deleted, 0 unchanged; revision "} {
		if !strings.Contains(out, text) {
			t.Errorf("import prints %q, want it to contain %q", out, text)
		}
	}
	if got := s.ok("export", "--all-namespaces"); got != string(want) {
		t.Error("the standard output differs from the imported file")
	}
	file := filepath.Join(t.TempDir(), "out.yaml")
	if got := s.ok("export", "--namespaces", "default,warehouse", "--out", file); got != "" {
		t.Errorf("export to a file prints %q to the standard output", got)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("the exported file differs from the imported one (error %v)", err)
	}

	// Through JSON and a pipe into another database.
	piped := newShell(t)
	piped.input = s.ok("export", "--all-namespaces", "--format", "json")
	piped.ok("import", "-")
	if got := piped.ok("export", "--all-namespaces"); got != string(want) {
		t.Error("the export differs after a round trip through JSON")
	}
}

func TestExport(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("small.yaml", strings.ReplaceAll(small, "key: one", "key: zero")))
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "none"}, `namespace "none" not found`)
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small,small"}, "duplicate namespace")
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small,small@1"}, `duplicate namespace "small"`)
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small@99"}, `namespace "small" has no revision 99 yet`)
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small@1st"}, `invalid reference "small@1st"`)
	s.fails(cli.ExitFailure, []string{"evaluate", "one", "-n", "small@1", "-e", "e"}, "can only be read")
	s.fails(cli.ExitFailure, []string{"export", "--out", "x.toml"}, "--output")
	if got := s.ok("export", "--namespaces", "small", "--sort-by-key"); strings.Index(got, "key: two") > strings.Index(got, "key: zero") {
		t.Errorf("not sorted by key:\n%s", got)
	}
	// An earlier state is that of then, also after the namespace has changed.
	then := s.ok("export", "--namespaces", "small")
	s.ok("import", s.file("smaller.yaml", "namespace: {key: small, name: Smaller}\n"), "--drop", "--yes")
	if now := s.ok("export", "--namespaces", "small"); now == then {
		t.Errorf("the import has changed nothing:\n%s", now)
	}
	if got := s.ok("export", "--namespaces", "small@1"); got != then {
		t.Errorf("the first revision is now\n%s\nand was\n%s", got, then)
	}
	// A failed export keeps the previous file.
	path := s.file("keep.yaml", "keep")
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "none", "--out", path})
	if got, err := os.ReadFile(path); err != nil || string(got) != "keep" {
		t.Errorf("got %q, error %v, want the old file", got, err)
	}
	s.ok("export", "--out", os.DevNull, "--format", "yaml")
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v, error %v", os.DevNull, info.Mode(), err)
	}
}

// TestImportModes imports one namespace in every mode.
func TestImportModes(t *testing.T) {
	s := newEmptyShell(t)
	first := s.file("small.yaml", small)
	changed := s.file("changed.yaml", strings.Replace(strings.Split(small, "  - key: two")[0], "enabled: true", "enabled: false", 1))

	s.fails(cli.ExitFailure, []string{"import", first, "--dry-run"}, "does not exist")
	s.fails(cli.ExitFailure, []string{"import", first}, "does not exist", "--local")
	if entries := names(t, s.home()); entries != "" {
		t.Errorf("an import made %s", entries)
	}
	s.ok("migrate", "up")
	dry := s.ok("import", first, "--dry-run")
	for _, want := range []string{"small: 3 created", "dry run, nothing was changed", "create flag one", "+    enabled: true"} {
		if !strings.Contains(dry, want) {
			t.Errorf("dry run %q lacks %q", dry, want)
		}
	}
	s.fails(cli.ExitFindings, []string{"import", first, "--dry-run", "--exit-code"})
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small"}, "not found") // the dry runs changed nothing

	s.ok("import", first)
	s.fails(cli.ExitFailure, []string{"import", changed}, `flag "small/one" is not unique`, "--update", "--skip-existing", "nothing was imported")
	if got := s.ok("import", changed, "--skip-existing"); !strings.Contains(got, "1 skipped") {
		t.Errorf("import --skip-existing prints %q", got)
	}
	if got := s.ok("import", changed, "--update"); !strings.Contains(got, "0 created, 1 updated, 0 deleted") {
		t.Errorf("import --update prints %q", got)
	}
	s.ok("import", changed, "--update", "--dry-run", "--exit-code") // no differences are left
}

// TestDrop: nothing is deleted without confirmation.
func TestDrop(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("small.yaml", small))
	only := s.file("only.yaml", strings.Split(small, "  - key: two")[0])
	has := func(key string) bool {
		return strings.Contains(s.ok("export", "--namespaces", "small"), "key: "+key+"\n")
	}

	s.fails(cli.ExitFailure, []string{"import", only, "--drop"}, "flag two in namespace small", "--yes", "nothing was changed")
	s.typing("no\n").fails(cli.ExitFailure, []string{"import", only, "--drop"}, "flag two in namespace small", "Proceed?", "nothing was changed")
	s.typing("").fails(cli.ExitFailure, []string{"import", only, "--drop"}, "nothing was changed")
	if !has("two") {
		t.Fatal("flag two was deleted without confirmation")
	}
	s.fails(cli.ExitFailure, []string{"import", only, only, "--drop"}, "the second would delete the first")
	if got := s.typing("yes\n").ok("import", only, "--drop"); !strings.Contains(got, "1 deleted") {
		t.Errorf("import --drop prints %q", got)
	}
	if has("two") || !has("one") {
		t.Error("import --drop kept flag two or deleted flag one")
	}
	s.ok("import", s.file("small.yaml", small), "--update")
	if got := s.ok("import", only, "--drop", "--yes"); !strings.Contains(got, "1 deleted") {
		t.Errorf("import --drop prints %q", got)
	}
	s.ok("import", only, "--drop") // nothing to delete, so no confirmation
}

// TestSeveralDocuments: if the last document is invalid, the first is not imported
// either.
func TestSeveralDocuments(t *testing.T) {
	s := newShell(t)
	bad := strings.ReplaceAll(small, "key: small", "key: bad")
	bad = strings.Replace(bad, "key: one", "key: o n e", 1)
	s.fails(cli.ExitFailure, []string{"import", s.file("small.yaml", small), s.file("bad.yaml", bad)}, "nothing was imported", "bad.yaml", "o n e")
	s.fails(cli.ExitFailure, []string{"export", "--namespaces", "small"}, "not found")
	s.fails(cli.ExitFailure, []string{"import", s.file("comments.yaml", "# none")}, "comments.yaml: contains no document")
	s.fails(cli.ExitFailure, []string{"import", "/no/such.yaml"}, "no such file")
}

// TestInputFormat: the extension, the content or --input-format decides how a file is read.
func TestInputFormat(t *testing.T) {
	const json, yaml = `{"namespace": "j", "flags": []}`, "namespace: y\nflags: []\n"
	s := newShell(t)
	s.ok("migrate")
	for _, test := range []struct {
		args  []string
		input string
		want  string
	}{
		{[]string{"-"}, json, "j: "},
		{[]string{"-"}, yaml, "y: "},
		{[]string{"-"}, "{namespace: f, flags: []}", "f: "},
		{[]string{s.file("flags", json)}, "", "j: "},
		{[]string{s.file("flags.txt", yaml)}, "", "y: "},
		{[]string{"-", "--input-format", "yaml"}, `{"namespace": q}`, "q: "},
	} {
		piped := *s
		piped.input = test.input
		if got := piped.ok(append([]string{"import", "--dry-run", "--update"}, test.args...)...); !strings.HasPrefix(got, test.want) {
			t.Errorf("import %v with %q: got %q, want %q", test.args, test.input, got, test.want)
		}
		piped.ok(append([]string{"validate"}, test.args...)...)
	}
	s.fails(cli.ExitFailure, []string{"import", s.file("flags.json", yaml)}, "flags.json: document 1")
	s.fails(cli.ExitUsage, []string{"import", "-", "--input-format", "xml"}, "must be yaml or json")
}

// TestEmptyInput: nobody means to read nothing.
func TestEmptyInput(t *testing.T) {
	s := newShell(t)
	s.input = " \n"
	empty := s.file("empty.yaml", "")
	for _, command := range []string{"import", "validate", "plan"} {
		code, stream, file := cli.ExitFailure, "guidon: standard input is empty\n", "guidon: "+empty+" is empty\n"
		if command == "validate" {
			code, stream, file = cli.ExitFindings, "standard input: error: the input is empty\n", empty+": error: the input is empty\n"
		}
		if r := s.fails(code, []string{command, "-"}); r.out+r.err != stream {
			t.Errorf("%s -: got %q, want %q", command, r.out+r.err, stream)
		}
		if r := s.fails(code, []string{command, empty}); r.out+r.err != file {
			t.Errorf("%s: got %q, want %q", command, r.out+r.err, file)
		}
	}
	s.fails(cli.ExitFailure, []string{"compare", "-", "default"}, "guidon: standard input is empty")
}

func TestValidate(t *testing.T) {
	s := newShell(t)
	if got := s.ok("validate", shop); !strings.Contains(got, "shop.yaml:612:5: warning: segments[0] \"all-visitors\": the segment has no constraints") ||
		!strings.Contains(got, "valid (namespaces 2, flags 40, segments 26; warnings 3)") {
		t.Errorf("got %q", got)
	}
	s.fails(cli.ExitFindings, []string{"validate", "--strict", shop}, "warnings 3")
	bad := strings.Replace(small, "key: one", "key: o n e", 1)
	bad = strings.Replace(bad, "name: Two", "name: ''", 1)
	r := s.fails(cli.ExitFindings, []string{"validate", s.file("bad.yaml", bad), shop}, `flags[0] "o n e"`, `flags[1] "two"`, "valid")
	if r.err != "" {
		t.Errorf("got standard error %q, want the findings on the standard output", r.err)
	}
	s.fails(cli.ExitFindings, []string{"validate", s.file("bad.yaml", "version: '9'\nnamespace: x\n")}, "version")
	s.fails(cli.ExitFindings, []string{"validate", "/no/such.yaml"}, "/no/such.yaml: error: no such file or directory\n")
	s.input = small
	s.ok("validate", "-")
}

// TestValidateFormats: the findings are printed for people, programs and workflows of GitHub.
func TestValidateFormats(t *testing.T) {
	s := newShell(t)
	path := s.file("a,b.yaml", "flags:\n- key: x y\n  name: A\n  colour: 100%\n")
	for format, want := range map[string]string{
		"text": path + `:2:8: error: flags[0] "x y": invalid field key: contains invalid characters
` + path + `:4:3: error: flags[0] "x y": unknown member "colour"
`,
		"github": "::error file=" + strings.ReplaceAll(path, ",", "%2C") + `,line=2,col=8::flags[0] "x y": invalid field key: contains invalid characters
::error file=` + strings.ReplaceAll(path, ",", "%2C") + `,line=4,col=3::flags[0] "x y": unknown member "colour"
`,
		"json": `{
  "errors": 2,
  "warnings": 0,
  "findings": [
    {
      "file": "` + path + `",
      "line": 2,
      "column": 8,
      "severity": "error",
      "path": "flags[0] \"x y\"",
      "message": "invalid field key: contains invalid characters"
    },
    {
      "file": "` + path + `",
      "line": 4,
      "column": 3,
      "severity": "error",
      "path": "flags[0] \"x y\"",
      "message": "unknown member \"colour\""
    }
  ]
}
`,
	} {
		if r := s.fails(cli.ExitFindings, []string{"validate", "-o", format, path}); r.out != want || r.err != "" {
			t.Errorf("%s: got %q and %q, want %q", format, r.out, r.err, want)
		}
	}
	s.input = "flags:\n- {\"100%\\r\\n\": 1, key: a, name: A}\n"
	if got, want := s.ok("validate", "--ignore-unknown", "--format", "github", "-"), "::warning line=2,col=4::flags[0] \"a\": unknown member \"100%25\\r\\n\" is ignored\n"; got != want {
		t.Errorf("escapes: got %q, want %q", got, want)
	}
	s.fails(cli.ExitUsage, []string{"validate", "--format", "yaml", path}, "must be text, json or github")
}

// TestUnknownMembers: a misspelled member ends every command that reads files, before it changes
// anything, and --ignore-unknown leaves it out.
func TestUnknownMembers(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	const base = "flags:\n- key: f\n  name: F\n  type: BOOLEAN_FLAG_TYPE\n  enabled: true\n  rollouts:\n  - threshold: {percentage: 50, value: true}\n"
	s.ok("import", s.file("f.yaml", base))
	before := s.ok("export")
	for _, test := range []struct{ old, misspelt, want string }{
		{"percentage", "percent", `f.yaml: document 1, line 7: flags[0] "f": rollouts[0]: threshold: unknown member "percent"; did you mean percentage?`},
		{"rollouts", "rolouts", `line 6: flags[0] "f": unknown member "rolouts"; did you mean rollouts?`},
		{"enabled", "enabld", `line 5: flags[0] "f": unknown member "enabld"; did you mean enabled?`},
	} {
		path := s.file("f.yaml", strings.Replace(base, test.old, test.misspelt, 1))
		for _, command := range [][]string{{"import", "--update"}, {"import", "--update", "--dry-run"}, {"plan"}, {"apply", "--yes"}} {
			s.fails(cli.ExitFailure, append(command, path), test.want)
		}
		s.fails(cli.ExitFindings, []string{"validate", path}, "did you mean "+test.old+"?")
		s.ok("validate", "--ignore-unknown", path)
		if r := s.run("plan", "--exit-code", "--ignore-unknown", path); r.code != cli.ExitFindings {
			t.Errorf("plan --ignore-unknown: got exit code %d and %q", r.code, r.err)
		}
	}
	if after := s.ok("export"); after != before {
		t.Errorf("got %s, want what it was: %s", after, before)
	}
	s.ok("import", "--update", "--ignore-unknown", s.file("f.yaml", base+"  owner: x\n"))
}

// TestValidateLimit: only the first findings are printed, with the number of the others.
func TestValidateLimit(t *testing.T) {
	s := newShell(t)
	many := s.file("many.yaml", "flags:\n"+strings.Repeat("- {key: a, name: A, x: 1}\n", 900))
	r := s.fails(cli.ExitFindings, []string{"validate", many, many}) // each flag but the first is not unique
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != 1001 || lines[1000] != "and 2598 more findings" {
		t.Errorf("got %d lines, the last one %q", len(lines), lines[len(lines)-1])
	}
}

// TestExportUnexpected: an answer without a proper namespace writes no file, and replaces none.
func TestExportUnexpected(t *testing.T) {
	for _, answer := range []string{`{}`, `{"flags":[]}`, `{"namespace":{"key":"../x","name":"X"}}`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		}))
		t.Cleanup(server.Close)
		s := newEmptyShell(t)
		kept, dir := s.file("flags.yaml", "kept"), filepath.Join(t.TempDir(), "a", "b")
		for _, to := range [][]string{{"--out", kept}, {"--dir", dir}} {
			s.fails(cli.ExitFailure, append([]string{"export", "--address", server.URL}, to...), "unexpected response")
		}
		if got, err := os.ReadFile(kept); err != nil || string(got) != "kept" {
			t.Errorf("%s: got %q and %v, want the file as it was", answer, got, err)
		}
		if _, err := os.Stat(filepath.Dir(dir)); err == nil {
			t.Errorf("%s: something was written to %s", answer, filepath.Dir(dir))
		}
	}
}

// TestImportSameNamespace: a dry run says what it does not know.
func TestImportSameNamespace(t *testing.T) {
	s := newShell(t)
	file := s.file("small.yaml", small)
	s.ok("migrate")
	s.fails(cli.ExitOK, []string{"import", "--dry-run", file, file}, "namespace \"small\" is in "+file+" and in "+file+
		"; each is compared with what there is now, not with what the others make of it")
	if r := s.run("import", "--dry-run", file); strings.Contains(r.err, "compared") {
		t.Errorf("of one document: got %q", r.err)
	}
}

// TestImportOutput: programs get what an import changes, or would change, as data.
func TestImportOutput(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	file := s.file("small.yaml", small)
	if got := s.ok("import", file, "--dry-run", "-o", "name"); !strings.Contains(got, "small/flag/one\n") {
		t.Errorf("by name: got %q", got)
	}
	for _, format := range []string{"json", "yaml"} {
		if got := s.ok("import", file, "--update", "-o", format); !strings.Contains(got, "namespaceKey") || strings.Contains(got, "created,") {
			t.Errorf("as %s: got %s", format, got)
		}
	}
	s.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", file, "-o", "json"}, "can be combined only with")
	server := s.serve()
	c := s.withoutDatabase()
	c.ok("context", "set", "local", "--address", server.web)
	c.fails(cli.ExitUsage, []string{"import", "--from-flipt-database", file}, "--db or --local if a context is in use")
}

func TestEvaluate(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("small.yaml", small))
	var result struct {
		Enabled   *bool
		Match     *bool
		FlagKey   string
		RequestID string
	}
	if err := json.Unmarshal([]byte(s.ok("evaluate", "one", "-n", "small", "-e", "user", "-c", "a=b=c", "-r", "r1")), &result); err != nil {
		t.Fatal(err)
	}
	if result.Enabled == nil || !*result.Enabled || result.FlagKey != "one" || result.RequestID != "r1" {
		t.Errorf("got %+v, want a boolean result", result)
	}
	if got := s.ok("evaluate", "two", "-n", "small"); !strings.Contains(got, `"match": false`) {
		t.Errorf("got %s, want a variant result with its zero values", got)
	}
	s.fails(cli.ExitFailure, []string{"evaluate", "none", "-n", "small"}, `flag "small/none" not found`)
}
