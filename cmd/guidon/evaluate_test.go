package main

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestEvaluateMany: a flag is evaluated for several entities at once, in any format.
func TestEvaluateMany(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", explainedShop))
	entities := s.file("entities.txt", "user-3\n"+`{"entityId":"user-4","context":{"plan":"free"}}`+"\n")
	args := []string{"evaluate", "checkout", "--entities", entities, "-c", "plan=pro", "-c", "seats=100"}
	var results []struct{ EntityID, VariantKey string }
	if err := json.Unmarshal([]byte(s.ok(args...)), &results); err != nil {
		t.Fatal(err)
	}
	if len(results) != 2 || results[0].EntityID != "user-3" || results[0].VariantKey != "one-page" || results[1].EntityID != "user-4" || results[1].VariantKey != "classic" {
		t.Errorf("got %+v, want the context of the file to be stronger", results)
	}
	if got := s.ok(append(args, "-o", "name")...); got != "one-page\nclassic\n" {
		t.Errorf("by name: got %q", got)
	}
	table := s.ok(append(args, "-o", "table")...)
	for _, want := range []string{`ENTITY +RESULT +REASON +SEGMENTS\n`, `user-3 +one-page +match +big-customers\n`, `user-4 +classic by default +default +-\n`} {
		if !regexp.MustCompile(want).MatchString(table) {
			t.Errorf("got the table %s, want it to match %q", table, want)
		}
	}
	if got := s.ok("evaluate", "checkout", "-e", "a", "-e", "b", "-o", "yaml"); strings.Count(got, "- entityId: ") != 2 {
		t.Errorf("as YAML: got %s", got)
	}
	var ids strings.Builder
	for range 2345 { // more than one batch
		ids.WriteString("user\n")
	}
	marked := s.file("marked.txt", "\ufeffuser-3\r\n")
	if got := s.ok("evaluate", "checkout", "--entities", marked, "--context-file", s.file("marked.json", "\ufeff{}"), "-o", "json"); !strings.Contains(got, `"entityId": "user-3"`) {
		t.Errorf("with byte order marks: got %s", got)
	}
	if got := s.ok("evaluate", "checkout", "--entities", s.file("many.txt", ids.String()), "-o", "name"); strings.Count(got, "\n") != 2345 {
		t.Errorf("got %d results, want 2345", strings.Count(got, "\n"))
	}
	s.fails(cli.ExitFailure, []string{"evaluate", "checkout", "--entities", s.file("latin.txt", "a\nM\xfcller\n")}, "latin.txt: line 2: must be UTF-8")
	for _, test := range []struct{ args, want string }{
		{"--entities x -e a", "cannot be combined"},
		{"--entity-id=", "--entity-id must not be empty"},
		{"--entities - --context-file -", "only once"},
		{"--watch", "no server is given"},
	} {
		s.fails(cli.ExitUsage, append([]string{"evaluate", "checkout"}, strings.Fields(test.args)...), test.want)
	}
}

// TestEvaluateWatch: results are printed when they change, by a change or by time, and only then.
func TestEvaluateWatch(t *testing.T) {
	s := newShell(t)
	server := s.serve()
	s.ok("flag", "create", "beta", "--address", server.web)
	watcher := s.follow("evaluate", "beta", "-e", "u1", "--watch", "-o", "json", "--address", server.web)
	next := func(want string) {
		t.Helper()
		if got := watcher.next(); !strings.HasPrefix(got, `{"entityId":"u1",`) || !strings.Contains(got, want) {
			t.Errorf("got %s, want a line with %s", got, want)
		}
	}
	next(`"enabled":false`)
	s.ok("flag", "update", "beta", "--name", "Another name", "--address", server.web)
	s.ok("flag", "on", "beta", "--everyone", "--address", server.web)
	next(`"enabled":true`)
	s.ok("flag", "rule", "add", "beta", "100%", "--value", "off", "--from", "2s", "--address", server.web)
	next(`"enabled":false`) // without a change
	s.ok("flag", "create", "gate", "--address", server.web)
	s.ok("flag", "rule", "remove", "beta", "1", "--address", server.web)
	next(`"enabled":true`)
	s.ok("flag", "update", "beta", "--requires", "gate", "--address", server.web)
	next(`"enabled":false`)
	s.ok("flag", "rule", "add", "gate", "100%", "--from", "2s", "--address", server.web)
	next(`"enabled":true`) // by a flag that it requires
	s.ok("flag", "delete", "beta", "--yes", "--address", server.web)
	next(`"reason":"NOT_FOUND_ERROR_EVALUATION_REASON"`)
	watcher.interrupt()
}
