package main

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// firstVersion has two rules without ranks, each with its own variant.
const firstVersion = `version: VERSION
namespace: old
flags:
  - key: f
    name: F
    enabled: true
    variants: [{key: first}, {key: second}]
    rules:
      - segment: all
        distributions: [{variant: first, rollout: 100}]
      - segment: all
        distributions: [{variant: second, rollout: 100}]
segments:
  - {key: all, name: All, match_type: ALL_MATCH_TYPE}
`

// TestVersions: all ways to import accept the same versions, reject all others, and
// assign the same ranks.
func TestVersions(t *testing.T) {
	server := newShell(t).serve()
	for _, version := range []string{"1.0", "1.0.0", "v1.0", "v1", "1.4.0", "v1.4", "1.3.0"} {
		t.Run(version, func(t *testing.T) {
			direct := newShell(t)
			file := direct.file("old.yaml", strings.Replace(firstVersion, "VERSION", version, 1))
			direct.ok("validate", file)
			direct.ok("import", file)
			want := direct.ok("export", "--namespaces", "old")
			if strings.Index(want, "variant: first") > strings.Index(want, "variant: second") || !strings.Contains(want, "variant: second") {
				t.Errorf("the rules have changed their order:\n%s", want)
			}
			for _, address := range []string{server.web, server.grpc} {
				direct.ok("import", file, "--drop", "--yes", "--address", address)
				if got := direct.ok("export", "--namespaces", "old", "--address", address); got != want {
					t.Errorf("imported at %s: got\n%s, want\n%s", address, got, want)
				}
			}
		})
	}
	s := newShell(t)
	unknown := s.file("unknown.yaml", strings.Replace(firstVersion, "VERSION", "1.5.0", 1))
	const reason = "version: unsupported version: 1.5.0"
	s.fails(cli.ExitFindings, []string{"validate", unknown}, reason)
	s.fails(cli.ExitFailure, []string{"import", unknown}, reason)
	s.fails(cli.ExitFailure, []string{"import", unknown, "--address", server.web}, reason)
}
