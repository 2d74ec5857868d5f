package service_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// doors has revision 1, and what differs in revision 2 of namespace shop.
var doors = []string{`version: guidon/1
namespace: {key: shop, name: Shop}
flags:
  - {key: a, name: A, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b}]}
  - {key: b, name: B, type: BOOLEAN_FLAG_TYPE}
  - {key: old, name: Old, type: BOOLEAN_FLAG_TYPE, requires: [{flag: gone}]}
  - {key: gone, name: Gone, type: BOOLEAN_FLAG_TYPE}
  - {key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: y}]}
  - {key: w, name: W, type: VARIANT_FLAG_TYPE}
`, `version: guidon/1
namespace: {key: shop, name: Shop}
flags:
  - {key: a, name: A, type: BOOLEAN_FLAG_TYPE}
  - {key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}]}
  - {key: old, name: Old, type: BOOLEAN_FLAG_TYPE}
  - {key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: x}, {key: y}]}
  - {key: w, name: W, type: VARIANT_FLAG_TYPE}
  - {key: c, name: C, type: BOOLEAN_FLAG_TYPE, rollouts: [{segment: {value: true}, everyone: true, requires: [{flag: v, is: [x]}]}]}
`}

// TestRequirementDoors: no kind of write leaves a cycle, or a requirement of what does not exist.
func TestRequirementDoors(t *testing.T) {
	s := newService(t)
	for _, text := range doors {
		mustImport(t, s, text, service.ImportReplace)
	}
	mustImport(t, s, "version: guidon/1\nnamespace: {key: test, name: Test}\nflags:\n  - {key: p, name: P, type: BOOLEAN_FLAG_TYPE}\n"+
		"  - {key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: p}]}\n  - {key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: y}]}\n", service.ImportCreate)
	everyone := guidon.Conditions{Everyone: true, Requires: []guidon.Requirement{{FlagKey: "c"}}}
	needsB := guidon.Conditions{Everyone: true, Requires: []guidon.Requirement{{FlagKey: "b"}}}
	created, _, err := s.CreateRollout(t.Context(), service.Write{}, "shop", service.RolloutInput{
		FlagKey: "a", Rollout: guidon.Rollout{Rank: 1, Segment: &guidon.RolloutSegment{Value: true}, Conditions: &guidon.Conditions{Everyone: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	rule, _, err := s.CreateRule(t.Context(), service.Write{}, "shop", service.RuleInput{FlagKey: "v", Rule: guidon.Rule{Rank: 1, Conditions: &guidon.Conditions{Everyone: true}}})
	if err != nil {
		t.Fatal(err)
	}
	x := flag(t, s, "shop", "v").VariantByKey("x")
	text := func(flags string) *service.Document {
		return parse(t, "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: ["+flags+"]")
	}
	replace := func(key, flag string) func(context.Context, service.Write) error {
		return func(ctx context.Context, w service.Write) error {
			_, _, err := s.ReplaceFlag(ctx, w, "shop", key, text(flag).Flags[0], nil)
			return err
		}
	}
	edit := func(edits ...service.FlagEdit) func(context.Context, service.Write) error {
		return func(ctx context.Context, w service.Write) error {
			_, _, err := s.Edit(ctx, w, "shop", service.Edits{Flags: edits})
			return err
		}
	}
	imported := func(mode service.ImportMode, flags string) func(context.Context, service.Write) error {
		return func(ctx context.Context, w service.Write) error {
			_, _, err := s.Import(ctx, w, "shop", text(flags), mode, false)
			return err
		}
	}
	planned := func(r service.PlanRequest) func(context.Context, service.Write) error {
		return func(ctx context.Context, w service.Write) error {
			r.Namespace = "shop"
			_, _, err := s.Plan(ctx, service.Caller{}, service.Demand{}, r, nil)
			return err
		}
	}
	const (
		cycleA  = "{key: a, name: A, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b}]}"
		without = "{key: v, name: V, type: VARIANT_FLAG_TYPE, variants: [{key: y}]}"
		usedX   = `variant "x" is required by flag "c"`
	)
	for name, tt := range map[string]struct {
		write func(context.Context, service.Write) error
		want  string
	}{
		"CreateRollout": {func(ctx context.Context, w service.Write) error {
			_, _, err := s.CreateRollout(ctx, w, "shop", service.RolloutInput{FlagKey: "a", Rollout: guidon.Rollout{Rank: 2, Segment: &guidon.RolloutSegment{Value: true}, Conditions: &needsB}})
			return err
		}, `requires itself: a → b → a`},
		"UpdateRollout": {func(ctx context.Context, w service.Write) error {
			_, _, err := s.UpdateRollout(ctx, w, "shop", service.RolloutInput{FlagKey: "a", Rollout: guidon.Rollout{ID: created.ID, Segment: &guidon.RolloutSegment{Value: true}, Conditions: &needsB}})
			return err
		}, `requires itself: a → b → a`},
		"CreateRule": {func(ctx context.Context, w service.Write) error {
			_, _, err := s.CreateRule(ctx, w, "shop", service.RuleInput{FlagKey: "v", Rule: guidon.Rule{Rank: 1, Conditions: &everyone}})
			return err
		}, `flag "v" requires itself: v → c → v`},
		"UpdateRule": {func(ctx context.Context, w service.Write) error {
			_, _, err := s.UpdateRule(ctx, w, "shop", service.RuleInput{FlagKey: "v", Rule: guidon.Rule{ID: rule.ID, Conditions: &everyone}})
			return err
		}, `flag "v" requires itself: v → c → v`},
		"UpdateVariant": {func(ctx context.Context, w service.Write) error {
			_, _, err := s.UpdateVariant(ctx, w, "shop", service.VariantInput{FlagKey: "v", ID: x.ID, Key: "z"})
			return err
		}, usedX},
		"DeleteVariant": {func(ctx context.Context, w service.Write) error {
			_, err := s.DeleteVariant(ctx, w, "shop", "v", x.ID)
			return err
		}, usedX},
		"DeleteFlag": {func(ctx context.Context, w service.Write) error {
			_, err := s.DeleteFlag(ctx, w, "shop", "a")
			return err
		}, `flag "shop/a" is required by flag "b"`},
		"ReplaceFlag, a cycle":         {replace("a", cycleA), `requires itself: a → b → a`},
		"ReplaceFlag, no variant":      {replace("v", without), usedX},
		"ReplaceFlag, another type":    {replace("v", "{key: v, name: V, type: BOOLEAN_FLAG_TYPE}"), usedX},
		"ReplaceFlag, a variant flag":  {replace("a", "{key: a, name: A, type: VARIANT_FLAG_TYPE}"), `flag "a" has no variant "true"`},
		"Edit, a new cycle":            {edit(service.FlagEdit{Put: text("{key: m, name: M, requires: [{flag: k}]}").Flags[0]}, service.FlagEdit{Put: text("{key: k, name: K, type: BOOLEAN_FLAG_TYPE, requires: [{flag: m, is: [q]}]}").Flags[0]}), `flag "m" has no variant "q"`},
		"Edit, a deletion":             {edit(service.FlagEdit{Delete: "a"}), `flag "shop/a" is required by flag "b"`},
		"Edit, a deletion among":       {edit(service.FlagEdit{TurnOff: "b"}, service.FlagEdit{Delete: "v"}), `flag "shop/v" is required by flag "c"`},
		"Import, update":               {imported(service.ImportUpdate, cycleA+", {key: new, name: New}"), `requires itself: a → b → a`},
		"Import, create":               {imported(service.ImportCreate, "{key: m, name: M, type: BOOLEAN_FLAG_TYPE, requires: [{flag: k}]}, {key: k, name: K, type: BOOLEAN_FLAG_TYPE, requires: [{flag: m}]}"), `flag "m" requires itself: m → k → m`},
		"Import, replace":              {imported(service.ImportReplace, "{key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}]}"), `flag "shop/a" is required by flag "b"`},
		"Import, a type":               {imported(service.ImportUpdate, "{key: v, name: V, type: BOOLEAN_FLAG_TYPE}"), usedX},
		"Plan, update":                 {planned(service.PlanRequest{Document: text(cycleA), Mode: service.ImportUpdate}), `requires itself: a → b → a`},
		"Plan, a variant":              {planned(service.PlanRequest{Document: text(without), Mode: service.ImportUpdate}), usedX},
		"Plan, replace":                {planned(service.PlanRequest{Document: text("{key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}]}"), Mode: service.ImportReplace}), `flag "shop/a" is required by flag "b"`},
		"Plan, a restored cycle":       {planned(service.PlanRequest{Source: "shop@1", Flags: []string{"a"}, Mode: service.ImportUpdate}), `requires itself: a → b → a`},
		"Plan, a restored requirement": {planned(service.PlanRequest{Source: "shop@1", Flags: []string{"old"}, Mode: service.ImportUpdate}), `flag "shop/gone" not found, which flag "old" requires`},
		"Plan, a promotion":            {planned(service.PlanRequest{Source: "test", Flags: []string{"n"}, Mode: service.ImportUpdate}), `flag "shop/p" not found, which flag "n" requires`},
		"Plan, a promoted variant":     {planned(service.PlanRequest{Source: "test", Flags: []string{"v"}, Mode: service.ImportUpdate}), usedX},
	} {
		before, was := revision(t, s, "shop"), exported(t, s, "shop")
		for _, dry := range []bool{true, false} {
			err := tt.write(t.Context(), service.Write{DryRun: dry})
			if guidon.CodeOf(err) != guidon.InvalidArgument || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s, dry run %t: got %v, want InvalidArgument with %s", name, dry, err, tt.want)
			}
		}
		if after := revision(t, s, "shop"); after != before {
			t.Errorf("%s: revision %d after %d:\n%s", name, after, before, cmp.Diff(was, exported(t, s, "shop")))
		}
	}
}

// TestRequirementsPermitted: what leaves all requirements intact is permitted.
func TestRequirementsPermitted(t *testing.T) {
	s := newService(t)
	mustImport(t, s, doors[0], service.ImportCreate) // a requires b, which comes later
	mustImport(t, s, doors[1], service.ImportReplace)
	for _, source := range []service.PlanRequest{
		{Source: "shop@1", Mode: service.ImportReplace}, {Source: "shop@2", Mode: service.ImportReplace},
		{Undo: &service.Undo{First: 2, Last: 2}, Mode: service.ImportUpdate}, {Undo: &service.Undo{First: 5, Last: 5}, Mode: service.ImportUpdate},
		{Source: "shop@1", Flags: []string{"old", "gone"}, Mode: service.ImportUpdate},
	} {
		source.Namespace = "shop"
		mustApply(t, s, source)
	}
	for _, turn := range []func() error{
		func() error { _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "shop", "a", nil); return err },
		func() error { _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "shop", "b", nil); return err },
		func() error {
			_, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "shop", "b", false, nil)
			return err
		},
		func() error {
			_, _, err := s.TurnFlagOn(t.Context(), service.Write{}, "shop", "old", true, nil)
			return err
		},
		func() error {
			_, _, err := s.Edit(t.Context(), service.Write{}, "shop", service.Edits{Flags: []service.FlagEdit{{Delete: "gone"}, {Delete: "old"}}})
			return err
		},
		func() error { _, err := s.DeleteNamespace(t.Context(), service.Write{}, "shop", true); return err },
	} {
		if err := turn(); err != nil {
			t.Error(err)
		}
	}
	if p := mustApply(t, s, service.PlanRequest{Namespace: "shop", Source: "shop@2", Mode: service.ImportReplace}); len(p.Changes) != 7 {
		t.Errorf("restored: %q", lines(p))
	}
	if got := flag(t, s, "shop", "b").Requires; len(got) != 1 || got[0].FlagKey != "a" {
		t.Errorf("restored: b requires %v", got)
	}
}

// TestRequirementsApplied: a plan is refused if what it requires has gone since, or if what it deletes
// is required since.
func TestRequirementsApplied(t *testing.T) {
	s := newService(t)
	many := strings.Builder{} // so many that a plan reads all flags together
	for i := range 101 {
		fmt.Fprintf(&many, ", {key: f%d, name: F}", i)
	}
	all := "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: [{key: gone, name: G, type: BOOLEAN_FLAG_TYPE}, {key: v, name: V, variants: [{key: x}]}" + many.String()
	mustImport(t, s, all+"]", service.ImportCreate)
	mustImport(t, s, "version: guidon/1\nnamespace: {key: test, name: Test}\nflags: [{key: gone, name: G, type: BOOLEAN_FLAG_TYPE}, "+
		"{key: new, name: New, type: BOOLEAN_FLAG_TYPE, requires: [{flag: gone}]}]", service.ImportCreate)
	promotion := service.PlanRequest{Namespace: "shop", Source: "test", Flags: []string{"new"}, Mode: service.ImportUpdate}
	document := service.PlanRequest{Namespace: "shop", Document: parse(t, strings.Replace(all, "key: x", "key: y", 1)+"]"), Mode: service.ImportUpdate}
	promoted, lost := expectedOf(mustPlan(t, s, promotion)), expectedOf(mustPlan(t, s, document))
	if _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "gone"); err != nil {
		t.Fatal(err)
	}
	if err := importing(t, s, "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: [{key: gone, name: G, type: BOOLEAN_FLAG_TYPE}, "+
		"{key: c, name: C, type: BOOLEAN_FLAG_TYPE, requires: [{flag: v, is: [x]}]}]"); err != nil {
		t.Fatal(err)
	}
	apply := func(r service.PlanRequest, expected service.ExpectedPlan, want string) {
		t.Helper()
		before := revision(t, s, "shop")
		_, _, err := s.Apply(t.Context(), service.Write{}, service.Demand{}, r, expected, nil)
		if guidon.CodeOf(err) != guidon.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want InvalidArgument with %s", err, want)
		}
		if after := revision(t, s, "shop"); after != before {
			t.Errorf("%s: revision %d after %d", want, after, before)
		}
	}
	apply(document, lost, `variant "x" is required by flag "c"`)
	if _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "gone"); err != nil {
		t.Fatal(err)
	}
	apply(promotion, promoted, `flag "shop/gone" not found, which flag "new" requires`)
}

// TestRequirementsBroken: requirements that are broken already, as an earlier release can leave them,
// prevent only what requires the same again.
func TestRequirementsBroken(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now)
	mustImport(t, s, doors[1], service.ImportCreate)
	if _, err := db.Update(t.Context(), "shop", service.Write{}, func(ctx context.Context, tx service.Tx) error { return tx.DeleteFlag(ctx, "a") }); err != nil {
		t.Fatal(err)
	}
	if _, err := db.SQL().ExecContext(t.Context(), `UPDATE flags SET body = replace(body, 'VARIANT_FLAG_TYPE"', 'VARIANT_FLAG_TYPE+9"') WHERE flag_key = 'v'`); err != nil {
		t.Fatal(err)
	}
	put := func(flag string) error {
		f := parse(t, "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: ["+flag+"]").Flags[0]
		_, _, err := s.ReplaceFlag(t.Context(), service.Write{}, "shop", f.Key, f, nil)
		return err
	}
	for _, tt := range []struct {
		name string
		err  error
		want guidon.Code
	}{
		{"turn off a flag that requires one that is missing", func() error { _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "shop", "b", nil); return err }(), 0},
		{"delete another", func() error { _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "w"); return err }(), 0},
		{"require another, too", put("{key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}, {flag: c}]}"), 0},
		{"require one that is missing", put("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a}]}"), guidon.InvalidArgument},
		{"require it otherwise", put("{key: b, name: B, type: BOOLEAN_FLAG_TYPE, requires: [{flag: a, is: ['false']}]}"), guidon.InvalidArgument},
		{"require one that is unreadable", put("{key: n, name: N, type: BOOLEAN_FLAG_TYPE, requires: [{flag: v, is: [x]}]}"), guidon.Unimplemented},
		{"delete one that is unreadable and required", func() error { _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "v"); return err }(), guidon.InvalidArgument},
		{"a cycle through one that is missing", put("{key: a, name: A, type: BOOLEAN_FLAG_TYPE, requires: [{flag: b}]}"), guidon.InvalidArgument},
		{"create the one that is missing", put("{key: a, name: A, type: BOOLEAN_FLAG_TYPE}"), 0},
		{"require it no longer", put("{key: b, name: B, type: BOOLEAN_FLAG_TYPE}"), 0},
	} {
		if got := guidon.CodeOf(tt.err); tt.err != nil && got != tt.want || (tt.err == nil) != (tt.want == 0) {
			t.Errorf("%s: got %v, want code %v", tt.name, tt.err, tt.want)
		}
	}
}

// TestRequirementsInCycle: a cycle that another way of writing has left prevents no other change, and can be
// mended.
func TestRequirementsInCycle(t *testing.T) {
	db := newStore(t)
	s := service.NewService(db, time.Now)
	mustImport(t, s, "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: [{key: k, name: K, type: BOOLEAN_FLAG_TYPE}, "+
		"{key: x, name: X, type: BOOLEAN_FLAG_TYPE, requires: [{flag: k}]}, {key: y, name: Y, type: BOOLEAN_FLAG_TYPE, requires: [{flag: x}]}, "+
		"{key: other, name: Other, type: BOOLEAN_FLAG_TYPE}, {key: switch, name: Switch, type: BOOLEAN_FLAG_TYPE, enabled: true, requires: [{flag: k}]}]", service.ImportCreate)
	_, err := db.Update(t.Context(), "shop", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		x, err := tx.Flag(ctx, "x")
		if err != nil {
			return err
		}
		x.Requires = []guidon.Requirement{{FlagKey: "y"}}
		return tx.PutFlag(ctx, x)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.TurnFlagOff(t.Context(), service.Write{}, "shop", "switch", nil); err != nil {
		t.Errorf("turn off another flag: %v", err)
	}
	if _, err := s.DeleteFlag(t.Context(), service.Write{}, "shop", "other"); err != nil {
		t.Errorf("delete another flag: %v", err)
	}
	put := func(text string) error {
		f := parse(t, "version: guidon/1\nnamespace: {key: shop, name: Shop}\nflags: ["+text+"]").Flags[0]
		_, _, err := s.ReplaceFlag(t.Context(), service.Write{}, "shop", f.Key, f, nil)
		return err
	}
	flagtest.CheckError(t, put("{key: switch, name: Switch, type: BOOLEAN_FLAG_TYPE, requires: [{flag: x}]}"), guidon.InvalidArgument, `flag "x" requires itself: x → y → x`)
	if err := put("{key: x, name: X, type: BOOLEAN_FLAG_TYPE}"); err != nil {
		t.Errorf("mend it: %v", err)
	}
}
