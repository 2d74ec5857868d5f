package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestFlagCommands: what the commands do to a flag, over HTTP, over gRPC and in the database.
func TestFlagCommands(t *testing.T) {
	server := newShell(t).serve()
	for name, where := range map[string][]string{
		"HTTP": {"--address", server.web, "-n", "default"}, "gRPC": {"--address", server.grpc, "-n", "grpc"}, "database": {"--local"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShell(t)
			ok := func(args ...string) string { t.Helper(); return s.ok(append(args, where...)...) }
			fails := func(want string, args ...string) {
				t.Helper()
				s.fails(cli.ExitFailure, append(args, where...), want)
			}
			if name == "gRPC" {
				s.ok("namespace", "create", "grpc", "--address", server.grpc)
			}
			if name == "database" {
				s.ok("migrate")
			}
			ok("flag", "create", "beta", "-m", "for the beta")
			fails("already exists", "flag", "create", "beta")
			for _, step := range []struct {
				args []string
				want string
			}{
				{[]string{"flag", "on", "beta", "--everyone"}, "on\n"},
				{[]string{"flag", "off", "beta"}, "off\n"},
				{[]string{"flag", "off", "beta"}, "off\n"},
				{[]string{"flag", "on", "beta"}, "on\n"},
			} {
				if got := ok(append(step.args, "-o", "name")...); got != step.want {
					t.Errorf("%q: got %q, want %q", step.args, got, step.want)
				}
			}
			ok("flag", "create", "layout", "--enabled", "--variant", "classic", "--variant", `wide={"columns":3}`, "--default-variant", "classic", "--metadata", "owner=ada", "--metadata", "tags=[1]")
			if got := ok("flag", "off", "layout"); !strings.Contains(got, "everybody gets classic") {
				t.Errorf("flag off of a variant flag: got %q", got)
			}
			if got := ok("flag", "on", "layout"); !strings.Contains(got, "its rules decide") {
				t.Errorf("flag on of a variant flag: got %q", got)
			}
			ok("flag", "update", "layout", "--name", "Layout", "--default-variant", "wide", "--metadata", "tags=")
			var flag struct {
				Name     string
				Metadata map[string]any
				Variants []struct {
					Key        string
					Default    bool
					Attachment any
				}
				NamespaceKey, CreatedAt string
			}
			if err := json.Unmarshal([]byte(ok("flag", "get", "layout", "-o", "json")), &flag); err != nil {
				t.Fatal(err)
			}
			if flag.Name != "Layout" || len(flag.Metadata) != 1 || flag.Metadata["owner"] != "ada" || len(flag.Variants) != 2 || !flag.Variants[1].Default || flag.CreatedAt == "" || flag.NamespaceKey == "" {
				t.Errorf("flag get: got %+v", flag)
			}
			if got := ok("flag", "get", "layout", "-o", "yaml"); !strings.Contains(got, "attachment:\n      columns: 3\n") {
				t.Errorf("flag get as YAML: got %s", got)
			}
			if got := ok("flag", "list", "-o", "name"); got != "beta\nlayout\n" {
				t.Errorf("flag list: got %q", got)
			}
			if got := ok("flag", "list", "-o", "name", "--query", "type:boolean is:on"); got != "beta\n" {
				t.Errorf("flag list of boolean flags: got %q", got)
			}
			if got := ok("log", "beta"); !strings.Contains(got, "for the beta") {
				t.Errorf("the message is not in the log: %s", got)
			}
			fails("not found", "flag", "delete", "beta", "nope", "--yes")
			fails("run again with --yes", "flag", "delete", "beta", "layout")
			ok("flag", "delete", "beta", "layout", "--yes")
			if got := ok("flag", "list", "-o", "json"); got != "[]\n" {
				t.Errorf("after the deletion: got %q", got)
			}
			for _, args := range [][]string{{"flag", "get", "beta"}, {"flag", "on", "beta"}, {"flag", "off", "beta"}, {"flag", "update", "beta", "--name", "x"}} {
				fails(`/beta" not found`, args...)
			}
		})
	}
}

// TestFlagOnForEveryone: "flag on" restores what "flag off" or the page has turned off, and
// asks before it gives a flag to more people than ever had it.
func TestFlagOnForEveryone(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("import", s.file("flags.yaml", `flags:
- {key: fresh, name: Fresh, type: BOOLEAN_FLAG_TYPE}
- {key: ramp, name: Ramp, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 0, value: true}}]}
- {key: ten, name: Ten, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 10, value: true}}]}
- {key: layout, name: Layout, variants: [{key: a}], rules: [{segment: every, distributions: [{variant: a, rollout: 100}]}]}
- {key: shown, name: Shown, enabled: true, variants: [{key: a}], rules: [{segment: every, distributions: [{variant: a, rollout: 100}]}]}
- {key: blocked, name: Blocked, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 100, value: false}}]}
segments: [{key: every, name: Every}]
`))
	stored := func(key string) string { // without its times
		flag, _, _ := strings.Cut(s.ok("flag", "get", key, "-o", "yaml"), "namespaceKey")
		return flag
	}
	for key, want := range map[string]string{
		"fresh": "everyone gets On", "ramp": "everyone gets On", "layout": "everyone gets a",
	} {
		before := stored(key)
		s.fails(cli.ExitFailure, []string{"flag", "on", key}, "has not been turned off, so there is nothing to restore", want, "run again with --everyone")
		s.typing("no\n").fails(cli.ExitFailure, []string{"flag", "on", key}, want, "not confirmed")
		s.ok("flag", "off", key)
		if key == "layout" { // it was not enabled, so there is still nothing to restore
			s.fails(cli.ExitFailure, []string{"flag", "on", key}, want, "run again with --everyone")
		} else if got := s.ok("flag", "on", key); !strings.Contains(got, "turned on flag "+key) || !strings.Contains(got, "off for everybody, as before it was turned off") {
			t.Errorf("flag on %s: got %q", key, got)
		}
		if after := stored(key); after != before {
			t.Errorf("%s turned off and on: got\n%s\nwant\n%s", key, after, before)
		}
	}
	for _, key := range []string{"ten", "shown"} {
		before := stored(key)
		s.ok("flag", "off", key)
		s.ok("flag", "on", key, "--everyone") // restores, as there is something to restore
		if after := stored(key); after != before {
			t.Errorf("%s turned off and on: got\n%s\nwant\n%s", key, after, before)
		}
		if got := s.ok("flag", "on", key); !strings.Contains(got, "nothing to do for flag "+key) {
			t.Errorf("flag on %s again: got %q", key, got)
		}
	}
	if got := s.typing("yes\n").ok("flag", "on", "ramp"); !strings.Contains(got, "turned on flag ramp in default: on for everybody") {
		t.Errorf("flag on after the answer: got %q", got)
	}
	if got := s.ok("flag", "on", "layout", "--everyone"); !strings.Contains(got, "its rules decide") {
		t.Errorf("flag on --everyone: got %q", got)
	}
	s.fails(cli.ExitFailure, []string{"flag", "on", "blocked", "--everyone"}, "its rules make it false for everybody")
	s.fails(cli.ExitFailure, []string{"flag", "on", "blocked"}, "its rules make it false for everybody")
}

func TestFlagUsage(t *testing.T) {
	s := newShell(t)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"flag", "create", "f", "--type", "int"}, "must be boolean or variant"},
		{[]string{"flag", "create", "f", "--type", "boolean", "--variant", "a"}, "a boolean flag has no variants"},
		{[]string{"flag", "create", "f", "--variant", "=1"}, "must be a key, or key=attachment"},
		{[]string{"flag", "create", "f", "--default-variant", "a"}, "has no such variant"},
		{[]string{"flag", "create", "f", "--metadata", "a"}, "must have the form key=value"},
		{[]string{"flag", "update", "f"}, "nothing to change"},
		{[]string{"flag", "delete"}, "missing argument <flag>"},
		{[]string{"flag", "delete", "a", "a"}, "given twice"},
		{append([]string{"flag", "delete"}, strings.Fields(strings.Repeat("x ", 101))...), "at most 100"},
		{[]string{"flag", "list", "-o", "xml"}, "must be table, json, yaml or name"},
		{[]string{"segment", "create", "s", "--match", "some"}, "must be all or any"},
		{[]string{"segment", "create", "s", "--constraint", "country"}, "must be a property, an operator and a value"},
		{[]string{"segment", "create", "s", "--constraint", "entityId eq u-1"}, "did you mean entity:entityId? For a property of that name, write string:entityId"},
		{[]string{"segment", "create", "s", "--constraint", "entity_id eq u-1"}, "did you mean entity:entityId?"},
		{[]string{"segment", "create", "s", "--constraint", "nubmer:orders gte 10"}, "did you mean number:orders?"},
		{[]string{"segment", "create", "s", "--constraint", "bool:beta true"}, "did you mean boolean:beta?"},
		{[]string{"segment", "update", "s"}, "nothing to change"},
		{[]string{"namespace", "update", "n"}, "nothing to change"},
		{[]string{"webhook", "update", "w", "--on", "default"}, "nothing to change: give --name, --url"},
	} {
		s.fails(cli.ExitUsage, test.args, test.want)
	}
	s.ok("migrate")
	for query, want := range map[string]string{
		"is:bogus":         `--query: invalid term "is:bogus": is: has the values off, on, overdue, partly, snoozed, unused`,
		"owner:a TYPE:int": `invalid term "TYPE:int": type: has the values boolean, variant`,
	} {
		s.fails(cli.ExitFailure, []string{"flag", "list", "--query", query}, want)
	}
	for _, query := range []string{"", "is:off", "is:", `"is:bogus"`, "http://a.example", "owner:is:x"} {
		s.ok("flag", "list", "--query", query)
	}
}

// TestSegmentCommands: what the commands do to a segment.
func TestSegmentCommands(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("segment", "create", "iberia", "--match", "any", "--constraint", "country eq PT", "--constraint", `country isoneof ["ES","AD"]`, "--constraint", "number:seats gte 10", "--constraint", "boolean:beta true",
		"--constraint", "not version:app gte 2.4")
	s.fails(cli.ExitFailure, []string{"segment", "create", "iberia"}, "already exists")
	s.ok("segment", "create", "other", "--constraint", "app:version eq 2", "--constraint", "string:entityId eq u-1", "--constraint", "entity:entityId eq u-1")
	s.ok("segment", "delete", "other", "--yes")
	s.fails(cli.ExitFailure, []string{"segment", "create", "broken", "--constraint", "country like PT"}, "constraints[0]")
	s.fails(cli.ExitFailure, []string{"segment", "list", "-n", "none"}, `namespace "none" not found`)
	s.fails(cli.ExitFailure, []string{"flag", "list", "-n", "none"}, `namespace "none" not found`)
	for _, want := range []string{"MATCH         any", `country isoneof ["ES","AD"]`, "number:seats gte 10", "boolean:beta true", "not version:app gte 2.4"} {
		if got := s.ok("segment", "get", "iberia"); !strings.Contains(got, want) {
			t.Errorf("segment get: got %s, want %q", got, want)
		}
	}
	s.ok("segment", "update", "iberia", "--name", "Iberia", "--match", "all")
	if got := s.ok("segment", "get", "iberia", "-o", "json"); !strings.Contains(got, `"match_type": "ALL_MATCH_TYPE"`) || !strings.Contains(got, `"name": "Iberia"`) {
		t.Errorf("segment get: got %s", got)
	}
	s.ok("import", s.file("flag.yaml", `flags: [{key: f, name: F, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {key: iberia, value: true}}]}]`))
	s.fails(cli.ExitFailure, []string{"segment", "delete", "iberia", "--yes"}, `in use by flag "f"`)
	s.ok("flag", "delete", "f", "--yes")
	s.ok("segment", "delete", "iberia", "--yes")
	if got := s.ok("segment", "list", "-o", "name"); got != "" {
		t.Errorf("segment list: got %q", got)
	}
}

// TestNamespaceCommands: what the commands do to a namespace.
func TestNamespaceCommands(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("namespace", "create", "trial", "--color", "red", "--confirm-changes")
	s.fails(cli.ExitFailure, []string{"namespace", "create", "trial"}, "is not unique")
	s.ok("namespace", "update", "trial", "--description", "for a while")
	for _, want := range []string{"color: red", "confirmChanges: true", "description: for a while", "name: trial"} {
		if got := s.ok("namespace", "get", "trial", "-o", "yaml"); !strings.Contains(got, want) {
			t.Errorf("namespace get: got %s, want %q", got, want)
		}
	}
	s.ok("flag", "create", "f", "-n", "trial")
	s.fails(cli.ExitFailure, []string{"namespace", "delete", "trial", "--yes"}, "flags must be deleted first")
	s.fails(cli.ExitFailure, []string{"namespace", "delete", "trial", "--force"}, "with 1 flags and 0 segments", "run again with --yes")
	s.ok("namespace", "delete", "trial", "--force", "--yes")
	if got := s.ok("namespace", "list", "-o", "name"); got != "default\n" {
		t.Errorf("namespace list: got %q", got)
	}
	s.fails(cli.ExitFailure, []string{"namespace", "delete", "trial"}, `namespace "trial" not found`)
}

// edits returns the shell with an editor that applies a sed script.
func (s *shell) edits(script string) *shell {
	s.t.Helper()
	return s.editing("sed -i '" + script + "' \"$1\"\n")
}

// TestEditObject: an edit becomes a plan, and is applied if it is confirmed.
func TestEditObject(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "beta", "--name", "Beta")
	s.ok("segment", "create", "staff", "--constraint", "email suffix @guidon.example")

	r := s.edits("s/enabled: false/enabled: true/").run("flag", "edit", "beta", "--yes")
	if r.code != cli.ExitOK || !strings.HasSuffix(r.out, "updated flag beta in default\n") || !strings.Contains(r.out, "default value off → on") || !strings.Contains(r.out, "effect: everyone gets On") {
		t.Errorf("got exit code %d, %q and %q, want the plan with its effect", r.code, r.out, r.err)
	}
	s.edits("s/guidon.example/example.org/").ok("segment", "edit", "staff", "--yes")
	if got := s.ok("segment", "get", "staff"); !strings.Contains(got, "email suffix @example.org") {
		t.Errorf("after the edit: got %s", got)
	}
	if r := s.edits("s/enabled: true/enabld: true/").run("flag", "edit", "beta", "--yes"); r.code != cli.ExitFailure || !strings.Contains(r.err, `line 9: flags[0] "beta": unknown member "enabld"; did you mean enabled?`) {
		t.Errorf("a misspelled member: got %q", r.err)
	}
	s.ok("flag", "update", "beta", "--enabled")
	if r := s.edits("").run("flag", "edit", "beta"); r.code != cli.ExitOK || !strings.Contains(r.err, "nothing to do for flag beta") {
		t.Errorf("without a change: got exit code %d and %q", r.code, r.err)
	}
	for _, test := range []struct{ script, want string }{
		{"s/key: beta/key: other/", "its key cannot be changed"},
		{"s/namespace: *default/namespace: other/; s/key: default/key: other/", `the namespace must stay "default"`},
		{"s/name: Beta/name: [/", "the edited text is in "},
		{"s/enabled: true/enabled: 3/", `; continue with "guidon flag edit beta --file"`},
		{"s/name: Beta/name: Gamma/", "run again with --yes"},
	} {
		s.edits(test.script).fails(cli.ExitFailure, []string{"flag", "edit", "beta"}, test.want)
	}
	if got := s.ok("flag", "get", "beta", "-o", "json"); !strings.Contains(got, `"name": "Beta"`) {
		t.Errorf("after refused edits: got %s", got)
	}
}

// TestEditConflict: an edit shows what somebody else has changed meanwhile, before it asks. Both
// are brought together if the user wants that; otherwise nothing is changed, and the edit is kept.
func TestEditConflict(t *testing.T) {
	s := newShell(t)
	server := s.serve()
	at := func(args ...string) []string { return append(args, "--address", server.web) }
	s.ok(at("flag", "create", "beta", "--name", "Beta")...)
	edit := at("flag", "edit", "beta")
	editing := s.editing("sed -i 's/enabled: false/enabled: true/; s/name: Beta/name: Mine/' \"$1\"\n" +
		"curl -sS -X PUT " + server.web + `/api/v1/namespaces/default/flags/beta -d '{"name": "Theirs", "description": "new", "enabled": false}' >/dev/null` + "\n")
	said := []string{
		"flag beta has changed since revision 2: update in revision 3 by anonymous\n    description nothing → \"new\"\n" +
			"    both changed name: you to Mine, they to Theirs\n",
		"nothing was changed: flag beta has changed since the edit began", "the edited text is in ",
	}
	r := editing.fails(cli.ExitFailure, append(edit, "--yes"), said...)
	kept := regexp.MustCompile(`in (\S+\.yaml); continue with "guidon flag edit beta --file"`).FindStringSubmatch(r.err)
	if kept == nil {
		t.Fatalf("got %q, want it to name the kept file", r.err)
	}
	s.typing("n\n").fails(cli.ExitFailure, append(edit, "--file", kept[1]), said[:2]...)
	if got := s.ok(at("log", "beta", "--limit", "1", "-o", "name")...); got != "3\n" {
		t.Errorf("after refused edits: got revision %s, want 3", got)
	}
	out := s.typing("y\nyes\n").ok(append(edit, "--file", kept[1])...)
	if !strings.Contains(out, `name "Theirs" → "Mine"`) || strings.Contains(out, "description") {
		t.Errorf("got the plan %s, want it to have what was typed alone", out)
	}
	if got := s.ok(at("flag", "get", "beta")...); !strings.Contains(got, "Mine") || !strings.Contains(got, "new") || !strings.Contains(got, "on\n") {
		t.Errorf("brought together: got %s", got)
	}
	s.fails(cli.ExitFailure, append(edit, "--file", s.file("x.yaml", "flags: []")), "must begin with the line of the edit that kept it")
}

// TestUnread: a change is not said to have failed because the server cannot be read after it.
func TestUnread(t *testing.T) {
	s := newShell(t)
	server := s.serve()
	s.ok("flag", "create", "beta", "--address", server.web)
	s.ok("flag", "rollout", "beta", "50%", "--over", "3d", "--address", server.web)
	target, err := url.Parse(server.web)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	for _, args := range [][]string{
		{"flag", "off", "beta"}, {"flag", "update", "beta", "--name", "B"}, {"flag", "ramp", "beta", "pause"}, {"segment", "create", "staff"},
	} {
		var written atomic.Bool
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if written.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			written.Store(r.Method != http.MethodGet)
			proxy.ServeHTTP(w, r)
		}))
		s.fails(cli.ExitFailure, append(args, "--address", front.URL), "guidon: the change was made, but its result cannot be read: unexpected response 502")
		front.Close()
	}
	if got := s.ok("log", "--limit", "1", "--address", server.web, "-o", "name"); got != "7\n" { // after the namespace, the flag and its share
		t.Errorf("got the revision %q, want one of each change", got)
	}
}

// TestEditInterrupted: who interrupts the question of an edit is told where what was typed is.
func TestEditInterrupted(t *testing.T) {
	s := newShell(t)
	s.ok("flag", "create", "beta", "--name", "Beta")
	for question, script := range map[string]string{"Proceed?": "s/Beta/Gamma/", "Edit again?": "s/Beta/[/"} {
		ctx, cancel := context.WithCancel(t.Context())
		silent, keyboard := io.Pipe()
		defer keyboard.Close()
		said := &awaited{text: question, arrived: cancel}
		p := cli.NewProgram(s.edits(script).environ, silent, io.Discard, said)
		p.Terminal = func(any) bool { return true }
		p.Height = func() int { return 1000 }
		code := p.Run(ctx, []string{"flag", "edit", "beta"}, root)
		found := regexp.MustCompile(`guidon: interrupted; the edited text is in (\S+)\n$`).FindStringSubmatch(said.String())
		if code != cli.ExitInterrupted || found == nil || strings.Contains(read(t, found[1]), "Beta") {
			t.Errorf("%s: got exit code %d and %q, want the file of the edited text", question, code, said)
		}
	}
}

// awaited is a standard error that calls arrived when it has the text.
type awaited struct {
	bytes.Buffer
	text    string
	arrived func()
}

func (a *awaited) Write(p []byte) (int, error) {
	n, err := a.Buffer.Write(p)
	if strings.Contains(a.String(), a.text) {
		a.arrived()
	}
	return n, err
}
