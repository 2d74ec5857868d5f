package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

const compareBefore = `version: "1.4"
namespace: staging
flags:
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - threshold: {percentage: 10, value: true}
- {key: gone, name: Gone, type: BOOLEAN_FLAG_TYPE}
- {key: same, name: Same, type: BOOLEAN_FLAG_TYPE}
segments:
- {key: s, name: S, match_type: ANY_MATCH_TYPE}
`

const compareAfter = `version: "1.4"
namespace: production
flags:
- {key: same, name: Same, type: BOOLEAN_FLAG_TYPE}
- key: banner
  name: Banner
  type: BOOLEAN_FLAG_TYPE
  rollouts:
  - threshold: {percentage: 50, value: true}
segments:
- {key: s, name: S, match_type: ANY_MATCH_TYPE}
`

// comparedText is what "compare" prints for these two.
const comparedText = `flag banner: rule 1: share 10% → 50%
diff BEFORE/flags/banner AFTER/flags/banner
--- BEFORE/flags/banner
+++ AFTER/flags/banner
@@ -5,5 +5,5 @@
     enabled: false
     rollouts:
       - threshold:
-          percentage: 10
+          percentage: 50
           value: true

flag gone: only in BEFORE
diff BEFORE/flags/gone AFTER/flags/gone
--- BEFORE/flags/gone
+++ AFTER/flags/gone
@@ -1,5 +0,0 @@
-flags:
-  - key: gone
-    name: Gone
-    type: BOOLEAN_FLAG_TYPE
-    enabled: false

`

const comparedCounts = `flags: 1 only in BEFORE, 1 different, 1 equal
segments: 1 equal
`

// compares checks the outcome of "compare".
func (s *shell) compares(code int, want string, args ...string) {
	s.t.Helper()
	r := s.run(append([]string{"compare", "--exit-code"}, args...)...)
	if diff := cmp.Diff(want, r.out); diff != "" || r.code != code || r.err != "" {
		s.t.Errorf("%v: got exit code %d and the error %q (-want +got):\n%s", args, r.code, r.err, diff)
	}
}

// TestCompare compares namespaces and files, with the same result for both, locally and
// through servers.
func TestCompare(t *testing.T) {
	local, remote := newShell(t), newShell(t)
	running := remote.serve()
	eachWay(t, local, remote, running, func(t *testing.T, s *shell, _ string, at func(args ...string) []string) {
		staging, production := s.file("staging.yaml", compareBefore), s.file("production.yaml", compareAfter)
		s.ok(at("import", "--update", staging, production)...)
		both := s.file("both.json", "")
		s.ok(at("export", "--namespaces", "staging,production", "--out", both)...)
		for _, sides := range [][2]string{{"staging", "production"}, {staging, production}, {"staging", production}, {staging, "production"}, {both, "production"}} {
			named := func(text string) string {
				return strings.NewReplacer("BEFORE", sides[0], "AFTER", sides[1]).Replace(text)
			}
			if sides[0] == both { // the namespace with the key of the other side
				s.compares(0, "flags: 2 equal\nsegments: 1 equal\n", at(both, "production")...)
				continue
			}
			s.compares(cli.ExitFindings, named(comparedText+comparedCounts), at(sides[0], sides[1])...)
			s.compares(cli.ExitFindings, named(comparedCounts), at(sides[0], sides[1], "--stat")...)
			var got struct {
				Before, After *struct{ NamespaceKey string }
				Flags         struct{ Updated, Deleted, Unchanged int }
				Objects       []struct{ Kind, Key, Action, Summary, Diff string }
			}
			r := s.run(at("compare", "--exit-code", "--output=json", sides[0], sides[1])...)
			if err := json.Unmarshal([]byte(r.out), &got); err != nil || r.code != cli.ExitFindings {
				t.Fatal(r.code, err)
			}
			want := `[{flag banner update rule 1: share 10% → 50% } {flag gone delete deleted }]`
			if text := fmt.Sprint(got.Objects); text != want || got.Flags.Deleted != 1 || got.Flags.Unchanged != 1 {
				t.Errorf("%v: got %+v", sides, got)
			}
			if states := got.Before != nil && got.After.NamespaceKey == "production"; states != (sides == [2]string{"staging", "production"}) {
				t.Errorf("%v: got the states %+v and %+v", sides, got.Before, got.After)
			}
		}
		s.compares(0, "flags: 3 equal\nsegments: 1 equal\n", at("staging", "staging")...)
		s.compares(0, "flags: 3 equal\nsegments: 1 equal\n", at("staging@1", "staging")...)
		s.compares(0, "flags: 3 equal\nsegments: 1 equal\n", at("staging@2999-01-01T00:00:00.5Z", staging)...)
		s.compares(0, "flags: 3 equal\nsegments: 1 equal\n", at("staging", staging, "--stat")...)
	})
}

// TestComparePages: the command prints all differences, however many pages they take.
func TestComparePages(t *testing.T) {
	s := newShell(t)
	var keys []string
	for i := range 2100 {
		keys = append(keys, fmt.Sprintf("f%04d", i))
	}
	s.ok("import", s.flagsFile("many", "one", keys...), s.flagsFile("few", "two", "g"))
	r := s.run("compare", "--exit-code", "many", "few")
	for _, key := range keys {
		if !strings.Contains(r.out, "flag "+key+": only in many\n") {
			t.Fatalf("%s is missing", key)
		}
	}
	if want := "flags: 2100 only in many, 1 only in few, 0 equal\nsegments: 1 different, 0 equal\n"; r.code != cli.ExitFindings || !strings.HasSuffix(r.out, want) {
		t.Errorf("got exit code %d, want %q at the end", r.code, want)
	}
}

// TestCompareErrors: whatever fails, the exit code is 1, since 2 means a difference.
func TestCompareErrors(t *testing.T) {
	s := newShell(t)
	staging := s.file("staging.yaml", compareBefore)
	both := s.file("both.yaml", compareBefore+"---\n"+compareAfter)
	s.ok("import", staging)
	for args, want := range map[string]string{
		"":                             "missing argument <before>: guidon compare <before> <after>",
		"a":                            "missing argument <after>",
		"a b c":                        `unexpected argument "c"`,
		"--nope a b":                   "unknown flag: --nope",
		"-o json --stat a b":           "cannot be combined",
		"staging nope":                 `namespace "nope" not found`,
		"nope staging":                 `namespace "nope" not found`,
		"staging nope.yaml":            "nope.yaml: no such file",
		"nope " + staging:              `namespace "nope" not found`,
		"- -":                          "the standard input (-) can be read only once",
		"--input-format xml - staging": "must be yaml or json",
		staging + " " + both:           "has 2 namespaces",
		both + " nope":                 `has no namespace "nope"`,
		"staging " + s.file("x.yaml", "version: \"1.4\"\nflags:\n- {key: a b, name: x}\n"): "x.yaml: ",
		"staging staging --token secret": "require a server",
	} {
		r := s.run(append([]string{"compare"}, strings.Fields(args)...)...)
		code := cli.ExitFailure
		if strings.Contains(r.err, "--help for usage") {
			code = cli.ExitUsage
		}
		if r.code != code || !strings.Contains(r.err, want) || r.out != "" {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and %q", args, r.code, r.out, r.err, code, want)
		}
	}
	if r := s.run("compare", "staging", ""); r.code != cli.ExitUsage || !strings.Contains(r.err, "missing argument <after>") {
		t.Errorf("got %+v", r)
	}
	s.input = compareAfter
	s.compares(cli.ExitFindings, strings.NewReplacer("BEFORE", "staging", "AFTER", "standard input").Replace(comparedCounts), "staging", "-", "--stat")
}
