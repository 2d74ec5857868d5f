package guidon_test

import (
	"cmp"
	"errors"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
)

// versions are in the order of their precedence, with the example of Semantic Versioning 2.0,
// section 11. Those of one line are equal.
var versions = [][]string{
	{"0.0.0-0"},
	{"0", "v0", "0.0", "0.0.0", "0.0.0+1", "0.0.0+01.-"},
	{"1.0.0-0"},
	{"1.0.0-2", "1-2"},
	{"1.0.0-11"},
	{"1.0.0--"},
	{"1.0.0-A"},
	{"1.0.0-alpha", "v1-alpha+build", "1.0-alpha"},
	{"1.0.0-alpha.1"},
	{"1.0.0-alpha.1.1"},
	{"1.0.0-alpha.beta"},
	{"1.0.0-beta"},
	{"1.0.0-beta.2"},
	{"1.0.0-beta.11"},
	{"1.0.0-beta.999999999999999999"},
	{"1.0.0-beta-"},
	{"1.0.0-rc.1"},
	{"1.0.0", "1", "v1.0"},
	{"1.0.1"},
	{"1.2"},
	{"1.10"},
	{"2"},
	{"999999999999999999.999999999999999999.999999999999999999"},
}

func TestVersions(t *testing.T) {
	type placed struct {
		text  string
		place int
	}
	var all []placed
	for i, equal := range versions {
		for _, text := range equal {
			all = append(all, placed{text, i})
		}
	}
	for _, a := range all {
		for _, b := range all {
			v, err := guidon.ParseVersion(a.text)
			w, otherErr := guidon.ParseVersion(b.text)
			if err != nil || otherErr != nil {
				t.Fatalf("%s, %s: %v, %v", a.text, b.text, err, otherErr)
			}
			if got, want := v.Compare(w), cmp.Compare(a.place, b.place); got != want {
				t.Errorf("%s and %s: got %d, want %d", a.text, b.text, got, want)
			}
		}
	}
}

func TestNoVersion(t *testing.T) {
	for _, text := range []string{
		"", "v", "V1", "vv1", "latest", "1.", ".1", "1..2", "1.2.3.4", "01", "1.00", "-1", "+1", "1-", "1+", "1-a..b", "1-01", "1-é", "1+é", "1 ", " 1",
		"1.x", "1_000", "1000000000000000000", "1-1000000000000000000",
	} {
		if v, err := guidon.ParseVersion(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, v)
		}
	}
}

func TestPatternLimits(t *testing.T) {
	tests := []struct {
		name, pattern string
		want          error
	}{
		{"512 bytes", strings.Repeat("a", guidon.MaxPatternSize), nil},
		{"513 bytes", strings.Repeat("a", guidon.MaxPatternSize+1), guidon.ErrPatternTooComplex},
		{"1000 repetitions", "a{1000}", nil},
		{"3000 instructions", "(abc){1000}", guidon.ErrPatternTooComplex},
	}
	for _, tt := range tests {
		if _, err := guidon.CompilePattern(tt.pattern); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
}

// FuzzVersion: versions that parse are ordered: comparing is antisymmetric, and build metadata
// makes no difference.
func FuzzVersion(f *testing.F) {
	f.Add("1.0.0-alpha", "1.0.0-alpha.1")
	f.Add("v1+build", "1.0-0")
	f.Fuzz(func(t *testing.T, a, b string) {
		v, err := guidon.ParseVersion(a)
		w, otherErr := guidon.ParseVersion(b)
		if err != nil || otherErr != nil {
			return
		}
		if v.Compare(w) != -w.Compare(v) || (v.Compare(w) == 0) != (v == w) {
			t.Errorf("%q and %q: got %d and %d", a, b, v.Compare(w), w.Compare(v))
		}
		core, _, _ := strings.Cut(a, "+")
		if again, err := guidon.ParseVersion(core + "+x"); err != nil || again != v {
			t.Errorf("%q without its build: got %v, %v", a, again, err)
		}
	})
}

// FuzzAddresses: an address is in a list that has just it, however it is spelled.
func FuzzAddresses(f *testing.F) {
	f.Add("192.0.2.1")
	f.Add("::FFFF:192.0.2.1")
	f.Add("fe80::1%eth0")
	f.Fuzz(func(t *testing.T, text string) {
		address, err := guidon.ParseAddress(text)
		if err != nil {
			return
		}
		compiled, _ := guidon.CompileConstraint(&guidon.Constraint{
			Type: guidon.AddressComparison, Operator: guidon.OpIsOneOf, Value: `["` + address.String() + `"]`,
		})
		if !compiled.Accepts(text) {
			t.Errorf("%q is not in a list of %s", text, address)
		}
	})
}
