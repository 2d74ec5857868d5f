package service_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

const requiring = `version: guidon/1
namespace: {key: shop, name: Shop}
flags:
  - {key: a, name: A, type: BOOLEAN_FLAG_TYPE}
  - {key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: x}, {key: y}]}
  - {key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}]}
  - {key: c, name: C, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, requires: [{flag: v, is: [x]}]}]}
`

// TestRequirements: whatever writes, no requirement is left that refers to nothing, is in a cycle or
// too deep.
func TestRequirements(t *testing.T) {
	s := newService(t)
	mustImport(t, s, requiring, service.ImportCreate)
	flag := func(text string) string {
		return "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: [" + text + "]"
	}
	chain := strings.Builder{}
	for i := range 7 {
		chain.WriteString(strings.NewReplacer("#", string(rune('0'+i)), "@", string(rune('1'+i))).Replace("{key: c#, name: C, type: BOOLEAN_FLAG_TYPE, requires: [{flag: c@}]}, "))
	}
	variant := view(t, s, "shop").Snapshot.Flag("v").VariantByKey("x")
	for _, tt := range []struct {
		name  string
		write func() error
		want  string
	}{
		{"a missing flag", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: lost}]}"))
		}, `flag "shop/lost" not found`},
		{"itself", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: n}]}"))
		}, `flag "n" requires itself: n → n`},
		{"a cycle", func() error {
			return importing(t, s, flag("{key: a, name: A, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b}]}"))
		}, `flag "a" requires itself: a → b → a`},
		{"no such variant", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: v, is: [x, z]}]}"))
		}, `flag "v" has no variant "z"`},
		{"a variant flag that is true", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: v}]}"))
		}, `flag "v" has no variant "true"`},
		{"too deep", func() error {
			return importing(t, s, flag(chain.String()+"{key: c7, name: C, type: BOOLEAN_FLAG_TYPE}"))
		}, `flag "c0" requires too many flags (depth 5, 50 evaluations)`},
		{"deleting the flag", func() error {
			_, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "a")
			return err
		}, `flag "shop/a" is required by flag "b"`},
		{"deleting the variant", func() error {
			_, err := s.DeleteVariant(t.Context(), service.Write{}, "shop", "v", variant.ID)
			return err
		}, `variant "x" is required by flag "c"`},
		{"replacing the variant", func() error {
			return importing(t, s, flag("{key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: y}]}"))
		}, `variant "x" is required by flag "c"`},
		{"a threshold", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, rollouts: [{threshold: {percentage: 5}, requires: [{flag: a}]}]}"))
		}, "invalid field requires: a threshold is for everyone; use a segment rollout with a portion"},
		{"too many", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: ["+strings.Repeat("{flag: a}, ", 11)+"]}"))
		}, "invalid field requires: must not contain more than 10 flags"},
		{"no flag", func() error {
			return importing(t, s, flag("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{is: [a]}]}"))
		}, "invalid field requires[0].flag: must not be empty"},
	} {
		before := revision(t, s, "shop")
		if err := tt.write(); guidon.CodeOf(err) != guidon.InvalidArgument && guidon.CodeOf(err) != guidon.NotFound || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if after := revision(t, s, "shop"); after != before {
			t.Errorf("%s: revision %d after %d", tt.name, after, before)
		}
	}
	if err := importing(t, s, flag("{key: a, name: A, type: BOOLEAN_FLAG_TYPE}, {key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: y}]}, "+
		"{key: b, name: B, type: BOOLEAN_FLAG_TYPE}, {key: c, name: C, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b, is: ['false']}, {flag: v, is: [y]}]}")); err != nil {
		t.Error(err)
	}
	want := []guidon.Requirement{{FlagKey: "b", Answers: []string{"false"}}, {FlagKey: "v", Answers: []string{"y"}}}
	if diff := cmp.Diff(want, view(t, s, "shop").Snapshot.Flag("c").Requires); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "a"); err != nil {
		t.Errorf("a flag that is no longer required: %v", err)
	}
}

func importing(t *testing.T, s *service.Service, document string) error {
	t.Helper()
	_, _, err := s.Import(t.Context(), service.Write{}, "shop", parse(t, document), service.ImportUpdate, false)
	return err
}
