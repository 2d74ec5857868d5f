package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/command/replay"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// takenOver returns a server with the interface of Flipt, and one of Guidon into which its
// database was imported. change changes flags of Guidon before it starts, unless it is nil.
func takenOver(t *testing.T, change func(s *shell)) (s *shell, flipt *httptest.Server, guidon *testServer) {
	t.Helper()
	data := fliptdbtest.Generate(5)
	s = newShell(t, "GUIDON_AUTHENTICATION_REQUIRED=true", "GUIDON_AUTHENTICATION_METHODS_TOKEN_ENABLED=true")
	s.ok("migrate", "up")
	s.ok("import", "--from-flipt-database", fliptFile(t, data))
	if change != nil {
		change(s)
	}
	flipt = httptest.NewServer(data.Handler())
	t.Cleanup(flipt.Close)
	return s, flipt, s.serve()
}

// TestReplayGenerated: after an import, every generated request has the same result as in
// Flipt, over HTTP and gRPC.
func TestReplayGenerated(t *testing.T) {
	s, flipt, guidon := takenOver(t, nil)
	token := s.file("token", fliptdbtest.Token+"\n")
	for _, to := range []string{guidon.web, guidon.grpc} {
		out := s.ok("replay", "--generate", "--from", flipt.URL, "--to", to, "--from-token-file", token, "--to-token-file", token)
		var evaluations, flags, equal, different int
		if _, err := fmt.Sscanf(out, "%d evaluations of %d flags: %d equal, %d different\n", &evaluations, &flags, &equal, &different); err != nil || flags != 80 || evaluations < 80*20 || equal != evaluations {
			t.Errorf("%s: got %q (%v), want that many evaluations of 80 flags are equal", to, out, err)
		}
	}
	few := s.with("GUIDON_REPLAY_FROM_TOKEN="+fliptdbtest.Token, "GUIDON_TOKEN="+fliptdbtest.Token).
		ok("replay", "--generate", "--namespaces", "second", "--per-flag", "3", "--from", flipt.URL, "--to", guidon.web, "--batch", "7", "--concurrency", "1")
	if !strings.HasPrefix(few, "109 evaluations of 40 flags: 109 equal") || !strings.Contains(few, "34 flags would have more requests") {
		t.Errorf("got %q, want at most 3 evaluations of each of 40 flags", few)
	}
}

// TestReplayDifferences: what differs is found, counted and shown.
func TestReplayDifferences(t *testing.T) {
	s, flipt, guidon := takenOver(t, func(s *shell) {
		s.ok("import", "--update", s.file("more.yaml", "namespace: {key: second}\nflags: [{key: new, name: New, type: BOOLEAN_FLAG_TYPE, enabled: true}]\n"))
	})
	s = s.with("GUIDON_REPLAY_FROM_TOKEN="+fliptdbtest.Token, "GUIDON_REPLAY_TO_TOKEN="+fliptdbtest.Token)
	r := s.fails(cli.ExitFindings, []string{"replay", "--exit-code", "--generate", "--from", flipt.URL, "--to", guidon.web, "--output", "json"})
	var report replay.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Flags) != 1 || report.Flags[0].Flag != "new" || report.Different != 1 || len(report.Flags[0].Examples) != 1 {
		t.Errorf("got %s, want one difference, of the new flag", r.out)
	}
	log := s.file("log.jsonl", `{"namespaceKey":"second","flagKey":"new","entityId":"u-1","context":{"n":1}}`+"\n\n"+`{"requests":[{"namespace_key":"second","flag_key":"none","entity_id":"u"}]}`+"\n")
	s.fails(cli.ExitFindings, []string{"replay", "--exit-code", log, "--from", flipt.URL, "--to", guidon.web},
		"2 evaluations of 2 flags: 1 equal, 1 different\n1 of the equal ones failed on both servers", "second/new: 1 of 1 different (result 1)",
		`entity "u-1", context {"n":"1"}`, `result: "NOT_FOUND_ERROR_EVALUATION_REASON" became "boolean"`)
	s.input = "{\"flagKey\": \"none\"}\nGET /evaluate\n"
	s.fails(cli.ExitFailure, []string{"replay", "-", "--from", flipt.URL, "--to", guidon.web}, "standard input line 2: must be a JSON object such as")
	if got := s.ok("replay", "-", "--skip-invalid", "--from", flipt.URL, "--to", guidon.web); !strings.Contains(got, "1 lines were skipped") {
		t.Errorf("got %q", got)
	}
}

// TestReplayFailures: what cannot be compared is a failure, and names the server.
func TestReplayFailures(t *testing.T) {
	s, flipt, guidon := takenOver(t, nil)
	s = s.with("GUIDON_REPLAY_FROM_TOKEN="+fliptdbtest.Token, "GUIDON_REPLAY_TO_TOKEN="+fliptdbtest.Token)
	log := s.file("log.jsonl", `{"flagKey":"x","entityId":"u"}`)
	both := []string{"--from", flipt.URL, "--to", guidon.web}
	for _, test := range []struct {
		code int
		args []string
		want string
	}{
		{cli.ExitFailure, []string{log, "--from", "http://127.0.0.1:1", "--to", guidon.web}, "--from: http://127.0.0.1:1 is unavailable"},
		{cli.ExitFailure, []string{log, "--from", flipt.URL, "--to", guidon.web, "--from-token-file", log}, "--from: "},
		{cli.ExitFailure, append([]string{s.file("empty", "\n")}, both...), "there are no requests"},
		{cli.ExitFailure, append([]string{s.file("short", "{}\n")}, both...), "line 1: flagKey is required"},
		{cli.ExitFailure, append([]string{filepath.Join(t.TempDir(), "none")}, both...), "no such file"},
		{cli.ExitUsage, both, "specify logs, - for the standard input, or --generate"},
		{cli.ExitUsage, append([]string{log, "--generate"}, both...), "specify logs, - for the standard input, or --generate"},
		{cli.ExitUsage, append([]string{"-", "-"}, both...), "only once"},
		{cli.ExitUsage, append([]string{log, "--batch", "0"}, both...), "invalid --batch: must be from 1 to 500, not 0"},
		{cli.ExitUsage, append([]string{log, "--output", "xml"}, both...), "must be table, json, yaml or name"},
		{cli.ExitUsage, append([]string{log, "--namespaces", "x"}, both...), "--namespaces requires --generate"},
		{cli.ExitUsage, []string{log, "--from", "localhost", "--to", guidon.web}, `--from: there is no context "localhost"`},
		{cli.ExitUsage, []string{log, "--from", flipt.URL}, "--to is required"},
	} {
		t.Run(test.want, func(t *testing.T) {
			s := *s
			s.t = t
			r := s.fails(test.code, append([]string{"replay"}, test.args...), test.want)
			if strings.Contains(r.err+r.out, fliptdbtest.Token) {
				t.Errorf("got %q with the token", r.err+r.out)
			}
		})
	}
}
