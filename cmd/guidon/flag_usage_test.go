package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// TestFlagRequires checks what the commands say of flags that require others, and how a whole flag
// gets its requirements.
func TestFlagRequires(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "api", "--enabled")
	s.ok("flag", "create", "price", "--enabled", "--variant", "low", "--variant", "high", "--default-variant", "low")
	s.ok("flag", "create", "bills", "--name", "Bills", "--enabled", "--requires", "api", "--requires", "price=low,high")
	s.ok("flag", "rollout", "bills", "--everyone", "--requires", "price=low")
	s.ok("flag", "rollout", "price", "high=100%", "--everyone", "--requires", "api")
	for _, test := range []struct{ args, want string }{
		{"flag usage api", "default/api is required by 2 flags\n├─ bills (Bills): the flag itself\n└─ price (price): rule 1\n"},
		{"flag usage price", "default/price is required by 1 flag\n└─ bills (Bills): the flag itself, rule 1\n"},
		{"flag usage bills", "default/bills is required by no flag\n"},
		{"flag usage api -n default@4 -o name", "bills\n"},
		{"flag list --query needs:guidon/1 -o name", "bills\nprice\n"},
		{"flag update bills --requires= --dry-run", "default: 0 to create, 1 to update, 0 to delete, 0 unchanged\n" +
			"  update flag bills\n    required flags api is true and price is low or high → nothing\n"},
		{"flag update bills --requires api=false --dry-run", "default: 0 to create, 1 to update, 0 to delete, 0 unchanged\n" +
			"  update flag bills\n    required flags api is true and price is low or high → api is false\n    effect: everyone gets Off\n"},
		{"flag update bills --description Invoices", "updated flag bills in default\n"},
	} {
		if diff := cmp.Diff(test.want, s.ok(strings.Fields(test.args)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.args, diff)
		}
	}
	wantText(t, s.ok("flag", "get", "bills"), "DEFAULT VALUE     on\nNEEDS             api to be true and price to be low or high\n")
	wantText(t, s.ok("flag", "get", "bills", "-o", "yaml"), "requires:\n  - flag: api\n  - flag: price\n    is:\n      - low\n      - high\n")
	s.ok("flag", "update", "bills", "--requires", "")
	if got := s.ok("flag", "get", "bills"); strings.Contains(got, "NEEDS") {
		t.Errorf("without requirements: got %s", got)
	}
	s.fails(cli.ExitFailure, []string{"flag", "update", "bills", "--requires", "gone"}, `flag "default/gone" not found`)
	s.fails(cli.ExitFailure, []string{"flag", "usage", "gone"}, `flag "default/gone" not found`)
	s.fails(cli.ExitUsage, []string{"flag", "usage", "a", "b"}, `unexpected argument "b"`)
}

// TestFlagSwitchUnmet: a flag that another keeps off is turned off and on like any other, and is not made
// wider by that.
func TestFlagSwitchUnmet(t *testing.T) {
	s := newShell(t)
	s.ok("migrate")
	s.ok("flag", "create", "api")
	s.ok("flag", "create", "bills", "--requires", "api")
	s.ok("flag", "rollout", "bills", "10%")
	for _, test := range []struct{ args, want string }{
		{"flag on bills --dry-run", "would turn on flag bills in default\n    effect: nobody gets anything else\n"},
		{"flag on bills", "nothing to do for flag bills in default: off for everybody, because of a flag that it requires\n"},
		{"flag off bills", "turned off flag bills in default: off for everybody\n"},
		{"flag on bills", "turned on flag bills in default: off for everybody, because of a flag that it requires\n"},
	} {
		if diff := cmp.Diff(test.want, s.ok(strings.Fields(test.args)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.args, diff)
		}
	}
	if got := s.ok("flag", "get", "bills"); !strings.Contains(got, "DEFAULT VALUE     off\n") {
		t.Errorf("it is wider than before:\n%s", got)
	}
}

// TestFlagUsagePages: the flags of all pages are printed, also as JSON.
func TestFlagUsagePages(t *testing.T) {
	s := newShell(t)
	var flags strings.Builder
	for i := range 120 {
		fmt.Fprintf(&flags, "- {key: f%03d, name: F, requires: [{flag: api}]}\n", i)
	}
	s.ok("import", s.file("many.yaml", "version: guidon/1\nflags:\n- {key: api, name: API, type: BOOLEAN_FLAG_TYPE}\n"+flags.String()))
	out := s.ok("flag", "usage", "api")
	if strings.Count(out, "\n├─ f") != 119 || !strings.Contains(out, "\n└─ f119 (F): the flag itself\n") {
		t.Errorf("got\n%s", out)
	}
	var response struct {
		Uses          []struct{ FlagKey string }
		TotalCount    int
		NextPageToken string
	}
	err := json.Unmarshal([]byte(s.ok("flag", "usage", "api", "-o", "json")), &response)
	if err != nil || len(response.Uses) != 120 || response.Uses[119].FlagKey != "f119" || response.TotalCount != 120 || response.NextPageToken != "" {
		t.Errorf("got %+v, %v", response, err)
	}
}
