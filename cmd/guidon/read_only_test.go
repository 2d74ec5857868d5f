package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestReadOnly: a read-only configuration holds for the server, over HTTP and gRPC, and for
// commands that work on the database itself.
func TestReadOnly(t *testing.T) {
	const refusal = "permission denied: the service is read-only (server.read_only is set)"
	s := newShell(t, "GUIDON_SERVER_READ_ONLY=true")
	s.ok("migrate", "up")
	if got := s.ok("status", "-o", "json"); !strings.Contains(got, `"readOnly": true`) || !strings.Contains(got, "guidon.db") {
		t.Errorf("status: got %s, want the database as read-only", got)
	}
	file := s.file("flags.yaml", "flags: [{key: f, name: F}]\n")
	s.ok("import", file, "--dry-run")
	s.fails(cli.ExitFailure, []string{"import", file}, refusal)
	server := s.serve()
	for _, address := range []string{server.web, server.grpc} {
		s.ok("import", file, "--dry-run", "--address", address)
		s.fails(cli.ExitFailure, []string{"import", file, "--address", address}, refusal)
		s.fails(cli.ExitFailure, []string{"apply", file, "--yes", "--address", address}, refusal)
		s.fails(cli.ExitFailure, []string{"flag", "create", "f", "--address", address}, refusal, "No token permits changes")
		if got := s.ok("status", "--address", address); !strings.Contains(got, "refused: read-only") || !strings.Contains(got, address) {
			t.Errorf("status: got %s, want the server as read-only", got)
		}
	}
	if _, info := server.get("/meta/info", ""); !strings.Contains(info, `"readOnly":true`) {
		t.Errorf("got %s, want readOnly", info)
	}
}
