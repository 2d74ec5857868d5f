package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// unstableLog matches what differs between runs in the output of "log".
var unstableLog = regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ|(cli|token):\S+|` + uuid.String())

// logged runs "log" and returns the rows of its table, with single spaces.
func (s *shell) logged(args ...string) []string {
	s.t.Helper()
	rows := []string{}
	for line := range strings.Lines(s.ok(append([]string{"log"}, args...)...)) {
		row := strings.Fields(unstableLog.ReplaceAllString(line, "_"))
		if len(rows) > 0 {
			row[2] = "_" // the actor, who is also the user that runs the test
		}
		rows = append(rows, strings.Join(row, " "))
	}
	if len(rows) == 0 || rows[0] != "REVISION TIME ACTOR ACTION KIND KEY REASON MESSAGE SUMMARY" {
		s.t.Fatalf("got %q, want a table with a title", rows)
	}
	return rows[1:]
}

// flagsFile returns the path of a document with a segment and boolean flags of that name.
func (s *shell) flagsFile(namespace, name string, keys ...string) string {
	var b strings.Builder
	b.WriteString("version: \"1.4\"\nnamespace: " + namespace + "\nflags:\n")
	for _, key := range keys {
		fmt.Fprintf(&b, "- {key: %s, name: %s, type: BOOLEAN_FLAG_TYPE}\n", key, name)
	}
	b.WriteString("segments:\n- {key: a, name: " + name + ", match_type: ANY_MATCH_TYPE}\n")
	return s.file(name+".yaml", b.String())
}

// TestLog lists changes that commands have made, with their messages, locally and through
// servers.
func TestLog(t *testing.T) {
	local := newEmptyShell(t, withTokens...)
	server := newShell(t, withTokens...).with("GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN=" + adminToken)
	running := server.serve()
	remote := server.with("GUIDON_TOKEN=" + adminToken)
	local.fails(cli.ExitFailure, []string{"log"}, "does not exist")
	local.ok("migrate", "up")
	eachWay(t, local, remote, running, func(t *testing.T, s *shell, name string, at func(args ...string) []string) {
		s.ok(at("import", "-m", "50 % off, “now” by "+name, s.flagsFile(name, "one", "a", "b"))...)
		s.ok(at("import", "--update", s.flagsFile(name, "two", "a"))...)
		all := []string{
			`2 _ _ update flag a import - name "one" → "two"`, `2 _ _ update segment a import - name "one" → "two"`,
			"1 _ _ create flag b import 50 % off, “now” by " + name + ` created (boolean flag "one")`, "1 _ _ create flag a import 50 % off, “now” by " + name + ` created (boolean flag "one")`,
			"1 _ _ create segment a import 50 % off, “now” by " + name + ` created ("one")`, "1 _ _ create namespace " + name + " import 50 % off, “now” by " + name + ` created ("` + name + `")`,
		}
		if diff := cmp.Diff(all, s.logged(at("-n", name)...)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.fails(cli.ExitFailure, append([]string{"log"}, at("nope", "-n", name)...), `there has never been a flag "nope" in namespace "`+name+`"`)
		s.fails(cli.ExitFailure, append([]string{"log"}, at("-n", name+"-typo")...), `namespace "`+name+`-typo" not found`)
		for args, want := range map[string][]string{
			"a --until 2001-01-01": {},
			"a":                    {all[0], all[3]}, "--segment a": {all[1], all[4]}, "--kind namespace": {all[5]},
			"--message BY": all[2:], "--message BY --kind flag": all[2:4], "--reason import": all, "--reason undo": {},
			"--revision 2": all[:2], "--revision 1..2": all, "--revision 3": {},
			"--limit 4": all[:4], "--until 2001-01-01": {}, "--until 2999-01-01T00:00:00Z": all, "--since 48h": all, "--until 48h": {}, "--actor nobody": {},
		} {
			if diff := cmp.Diff(want, s.logged(at(append(strings.Fields(args), "-n", name)...)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", args, diff)
			}
		}
		var list []struct{ Message, Summary string }
		if err := json.Unmarshal([]byte(s.ok(at("log", "--output=json", "-n", name)...)), &list); err != nil || len(list) != 6 || list[5].Message != "50 % off, “now” by "+name || list[1].Summary != `name "one" → "two"` {
			t.Errorf("-o json: got %+v, %v", list, err)
		}
		if got := s.ok(at("log", "--until=2001-01-01", "--output=json")...); got != "[]\n" {
			t.Errorf("-o json of nothing: got %q", got)
		}
	})
}

// TestLogOfAccess: the changes of tokens and bindings have messages too, and admins may list
// them.
func TestLogOfAccess(t *testing.T) {
	s := newShell(t)
	s.ok("token", "create", "ci", "-m", "for builds")
	id := firstColumn(s.ok("token", "list"))[0]
	s.ok("token", "delete", id, "--message", "leaked")
	s.ok("binding", "create", "viewer", "codehost:org:x", "-m", "they watch")
	binding := firstColumn(s.ok("binding", "list"))[0]
	s.ok("binding", "delete", binding, "-m", "they left")
	for kind, want := range map[string][]string{
		"authentication": {"2 _ _ delete authentication _ - leaked deleted", "1 _ _ create authentication _ - for builds created"},
		"binding":        {"4 _ _ delete binding _ - they left deleted (role viewer, subject codehost:org:x, namespaceKeys *, source database)", "3 _ _ create binding _ - they watch created (role viewer, subject codehost:org:x, namespaceKeys *, source database)"},
	} {
		if diff := cmp.Diff(want, s.logged("--kind", kind)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
	s.fails(cli.ExitFailure, []string{"token", "create", "ci", "-m", "two\nlines"}, "invalid field message: must not contain line breaks")
	s.fails(cli.ExitFailure, []string{"token", "create", "ci", "-m", strings.Repeat("x", 1001)}, "invalid field message: must not be longer than 1000 characters")
}

func TestLogUsage(t *testing.T) {
	s := newShell(t)
	for args, want := range map[string]string{
		"a b":                                 "accepts at most 1 arg",
		"a --segment s":                       "a flag cannot be combined with --segment or --kind",
		"--segment s --kind flag":             "cannot be combined",
		"--limit 0":                           "--limit must be between 1 and 10000",
		"--limit 10001":                       "--limit must be between 1 and 10000",
		"--since yesterday":                   `invalid --since "yesterday": must be a time`,
		"--until -2h":                         `invalid --until "-2h": must be a time`,
		"--follow":                            "no server is given",
		"--follow --until 1h -a http://x":     "cannot be combined",
		"--follow --kind binding -a http://x": "belong to no namespace",
		"--follow -a nowhere":                 `there is no context "nowhere"`,
		"--revision 3..2":                     `invalid revision "3..2"`,
		"--token x":                           "require a server",
	} {
		s.fails(cli.ExitUsage, append([]string{"log"}, strings.Fields(args)...), want)
	}
}

// TestLogFollow: the newest changes are printed, the oldest first, and then each further one
// that is selected.
func TestLogFollow(t *testing.T) {
	s := newShell(t)
	running := s.serve()
	s.ok("import", s.flagsFile("default", "zero", "a", "b"), "-a", running.web, "-m", "start")
	follower := s.follow("log", "a", "--follow", "--limit", "1", "-a", running.web)
	next := func(want string) {
		t.Helper()
		got := strings.Join(strings.Fields(unstableLog.ReplaceAllString(follower.next(), "_")), " ")
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	next("2 _ anonymous create flag a: created (boolean flag \"zero\") [import] start")
	s.ok("import", "--update", s.flagsFile("default", "one", "b"), "-a", running.web)
	s.ok("import", "--update", s.flagsFile("default", "two", "a", "b"), "-a", running.web, "-m", "second")
	next("4 _ anonymous update flag a: name \"zero\" → \"two\" [import] second")
	s.ok("import", "--update", s.flagsFile("default", "three", "a"), "-a", running.web)
	next("5 _ anonymous update flag a: name \"two\" → \"three\" [import]")
	follower.interrupt()
	s.fails(cli.ExitFailure, []string{"log", "--follow", "-a", running.grpc}, "only over HTTP")
}

// TestLogAllNamespaces lists the changes of all namespaces.
func TestLogAllNamespaces(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("namespace", "create", "shop")
	s.ok("flag", "create", "pay", "-n", "shop", "--enabled")
	s.ok("flag", "off", "pay", "-n", "shop", "-m", "incident")
	s.ok("flag", "create", "other")
	rows := func(args ...string) (got []string) {
		for line := range strings.Lines(s.ok(append([]string{"log", "--all-namespaces"}, args...)...)) {
			words := strings.Fields(line)
			got = append(got, strings.Join(append(words[:2:2], words[4:]...), " ")) // without the time and the actor
		}
		return got
	}
	const title = "NAMESPACE REVISION ACTION KIND KEY REASON MESSAGE SUMMARY"
	want := []string{title, `default 2 create flag other - - created (boolean flag "other")`, `shop 3 update flag pay - incident turned off`,
		`shop 2 create flag pay - - created (boolean flag "pay")`, `shop 1 create namespace shop - - created ("shop")`, `default 1 create namespace default - - created ("Default")`}
	if diff := cmp.Diff(want, rows()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{title, want[2]}, rows("--event", "turned-off,targeting", "--since", "1h")); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:3], rows("--limit", "2", "--since", "2001-01-01T09:00Z")); diff != "" {
		t.Errorf("limit (-want +got):\n%s", diff)
	}
	s.fails(cli.ExitUsage, []string{"log", "pay", "--all-namespaces"}, "a flag cannot be combined with --all-namespaces")
	s.fails(cli.ExitUsage, []string{"log", "--event", "created"}, "--event requires --all-namespaces")
	s.fails(cli.ExitUsage, []string{"log", "--all-namespaces", "--follow"}, "all-namespaces")
	s.fails(cli.ExitFailure, []string{"log", "--all-namespaces", "--event", "odd"}, "must be turned-off, turned-on, targeting, created, deleted or other")
}
