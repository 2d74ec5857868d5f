package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

func TestSegmentUsage(t *testing.T) {
	s := newShell(t)
	s.ok("import", s.file("shop.yaml", analyzedShop))
	for segment, want := range map[string]string{
		"staff": `
shop/staff is used by 2 flags
├─ checkout (Checkout): rule 1, rule 3 (with other segments)
│  ├─ without it: 66.6% of those who match rule 2 instead of rule 1 go from one-page to classic
│  └─ without it: 0.1% of those who match rule 2 instead of rule 1 go from one-page to classic (default)
└─ banner (Banner): rule 1
   └─ without it: 70% of those who no longer match rule 1 go from on to off
`,
		"guests": `
shop/guests is used by 3 flags
├─ checkout (Checkout): rule 3 (with other segments)
│  └─ without it: nothing changes for users
├─ banner (Banner): rule 5
│  └─ without it: 70% of those who no longer match rule 5 go from on to off
└─ sleeping (Sleeping): rule 1
   └─ without it: nothing changes for users
`,
		"unused": "\nshop/unused is used by no flag\n",
	} {
		if diff := cmp.Diff(want, "\n"+s.ok("segment", "usage", segment, "-n", "shop")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", segment, diff)
		}
	}
	wantText(t, s.ok("segment", "usage", "everyone", "-n", "shop@1"), "shop@1/everyone is used by 1 flag\n└─ checkout (Checkout): rule 2\n")
	s.fails(cli.ExitFailure, []string{"segment", "usage", "gone", "-n", "shop"}, `segment "shop/gone" not found`)
	s.fails(cli.ExitUsage, []string{"segment", "usage", "a", "b"}, `unexpected argument "b"`)
}

// TestSegmentUsagePages: the flags of all pages are printed, also as JSON.
func TestSegmentUsagePages(t *testing.T) {
	s := newShell(t)
	var flags strings.Builder
	for i := range 120 {
		fmt.Fprintf(&flags, "- {key: f%d, name: F, rules: [{segment: all}]}\n", i)
	}
	s.ok("import", s.file("many.yaml", "namespace: many\nsegments: [{key: all, name: All}]\nflags:\n"+flags.String()))
	out := s.ok("segment", "usage", "all", "-n", "many")
	if strings.Count(out, "\n├─ f") != 119 || strings.Count(out, "used by 120 flags") != 1 || !strings.Contains(out, "\n└─ f119 (F): rule 1\n") {
		t.Errorf("got\n%s", out)
	}
	var response struct {
		Uses          []struct{ FlagKey string }
		TotalCount    int
		NextPageToken string
	}
	s.ok("import", s.file("none.yaml", "namespace: many\nsegments: [{key: all, name: All}]"), "--drop", "--yes")
	err := json.Unmarshal([]byte(s.ok("segment", "usage", "all", "-n", "many@1", "--output=json")), &response)
	if err != nil || len(response.Uses) != 120 || response.Uses[119].FlagKey != "f119" || response.TotalCount != 120 || response.NextPageToken != "" {
		t.Errorf("got %+v, %v", response, err)
	}
}
