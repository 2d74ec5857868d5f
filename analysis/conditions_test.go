package analysis_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// inCountry returns conditions of entities in the country, or in this portion of them.
func inCountry(country string, portion float32) guidon.Conditions {
	c := guidon.Conditions{Groups: []*guidon.ConstraintGroup{{
		Constraints: []*guidon.Constraint{constraint(guidon.StringComparison, "country", "eq", country)},
	}}}
	if portion < 100 {
		c.Portion = &guidon.Portion{Percentage: portion}
	}
	return c
}

func everyone(p *guidon.Portion) guidon.Conditions {
	return guidon.Conditions{Everyone: true, Portion: p}
}

// rolloutOf returns a rollout for some of the entities of the segments.
func rolloutOf(id string, c guidon.Conditions, segments ...string) *guidon.Rollout {
	r := flagtest.SegmentRollout(true, guidon.OrSegments, segments...)
	r.ID, r.Conditions = id, c.OrNil()
	return r
}

func ruleOf(id string, c guidon.Conditions, split *guidon.Split, to flagtest.Shares, segments ...string) *guidon.Rule {
	r := flagtest.Rule(to, segments...)
	r.ID, r.Conditions, r.Split = id, c.OrNil(), split
	return r
}

func TestDescribeConditions(t *testing.T) {
	boolean := func(rollouts ...*guidon.Rollout) *guidon.Snapshot {
		return stateOf(flagtest.BooleanFlag("f", false, rollouts...))
	}
	variant := func(rules ...*guidon.Rule) *guidon.Snapshot { return stateOf(flagtest.VariantFlag("f", rules...)) }
	byAccount := func(percentage float32) *guidon.Rollout {
		r := flagtest.Threshold(percentage, true)
		r.Threshold.Split = &guidon.Split{By: "account"}
		return r
	}
	fine := func(percentage float32) *guidon.Rollout {
		r := flagtest.Threshold(percentage, true)
		r.Threshold.Split = &guidon.Split{Hash: guidon.FliptFineHash}
		return r
	}
	codeDefault := ruleOf("1", inCountry("SE", 100), nil, nil)
	codeDefault.CodeDefault = true
	for _, tt := range []struct {
		name          string
		before, after *guidon.Snapshot
		want          []string
	}{
		{"20% of users in Sweden", boolean(), boolean(rolloutOf("1", inCountry("SE", 20))),
			[]string{"all those who newly match rule 1 and are in its 20% go from off to on"}},
		{"more of them", boolean(rolloutOf("1", inCountry("SE", 20))), boolean(rolloutOf("1", inCountry("SE", 50))),
			[]string{"all those who newly match rule 1 and are in its 50% go from off to on"}},
		{"an exception", boolean(rolloutOf("1", guidon.Conditions{}, "beta")), boolean(rolloutOf("1", guidon.Conditions{ExceptSegmentKeys: []string{"staff"}}, "beta")),
			[]string{"all those who no longer match rule 1 go from on to off"}},
		{"an exception that nobody is in", boolean(rolloutOf("1", guidon.Conditions{}, "guests")), boolean(rolloutOf("1", guidon.Conditions{ExceptSegmentKeys: []string{"staff"}}, "guests")), nil},
		{"the same group", boolean(rolloutOf("1", inCountry("SE", 100), "beta")), boolean(rolloutOf("2", inCountry("SE", 100), "beta")), nil},
		{"a group of any of several segments", boolean(rolloutOf("1", inCountry("SE", 100), "beta", "staff")), boolean(rolloutOf("1", inCountry("NO", 100), "beta", "staff")),
			[]string{"all those who no longer match rule 1 go from on to off", "all those who newly match rule 1 go from off to on"}},
		{"a finer share", boolean(flagtest.Threshold(12.5, true)), boolean(fine(12.5)), []string{"0.5% of all entities go from on to off"}},
		{"a share by account", boolean(), boolean(byAccount(10)), []string{"all those who newly match rule 1 go from off to on"}},
		{"everyone", boolean(), boolean(rolloutOf("1", everyone(nil))), []string{"all entities go from off to on"}},
		{"the other half of a layer", variant(ruleOf("1", everyone(&guidon.Portion{Percentage: 50}), nil, flagtest.Shares{100})),
			variant(ruleOf("1", everyone(&guidon.Portion{Percentage: 50}), nil, flagtest.Shares{100}), ruleOf("2", everyone(&guidon.Portion{Start: 50, Percentage: 50}), nil, flagtest.Shares{0, 100})),
			[]string{"all those who newly match rule 2 and are in its 50% go from no variant to B"}},
		{"another split", variant(ruleOf("1", everyone(nil), &guidon.Split{Seed: "s"}, flagtest.Shares{50, 50})), variant(ruleOf("1", everyone(nil), &guidon.Split{Seed: "s"}, flagtest.Shares{33.333, 66.667})),
			[]string{"16.667% of all entities go from A to B"}},
		{"the default in the code", variant(), variant(codeDefault), []string{"all those who newly match rule 1 keep the default in the code, for another reason"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := effectOf(tt.before, tt.after, "f")
			var got []string
			for i := range e.Groups {
				for j := range e.Groups[i].Moves {
					got = append(got, e.Describe(&e.Groups[i], &e.Groups[i].Moves[j]))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOthersOfHashedProperties: the rule that decides with the changes is said also if these bring the
// entity into the share of an earlier one.
func TestOthersOfHashedProperties(t *testing.T) {
	byTenant := &guidon.Portion{Percentage: 50, Split: guidon.Split{By: "tenant"}}
	for tenant, want := range map[string]int{"umbrella": 0, "acme": 1} {
		f := flagtest.BooleanFlag("f", false, rolloutOf("1", everyone(byTenant)), rolloutOf("2", guidon.Conditions{
			Groups: []*guidon.ConstraintGroup{{Constraints: []*guidon.Constraint{constraint(guidon.StringComparison, "tenant", "eq", tenant)}}},
		}))
		e, err := analysis.Explain(flagtest.SnapshotOf(f), "f", "u", nil)
		if err != nil || len(e.Others) != 1 {
			t.Fatalf("got %+v, %v", e, err)
		}
		o := e.Others[0]
		if o.Verdict != analysis.Reachable || o.Step != want || len(o.Changes) != 1 || o.Changes[0].Example != tenant {
			t.Errorf("%s: got %+v, want step %d", tenant, o, want)
		}
	}
}

func TestReachOfConditions(t *testing.T) {
	half := func(start float32) guidon.Conditions {
		return everyone(&guidon.Portion{Start: start, Percentage: 50, Split: guidon.Split{Seed: "layer"}})
	}
	except := func(keys ...string) guidon.Conditions { return guidon.Conditions{ExceptSegmentKeys: keys} }
	for _, tt := range []struct {
		name     string
		rollouts []*guidon.Rollout
		want     []string
	}{
		{"halves of a layer", []*guidon.Rollout{rolloutOf("1", half(0)), rolloutOf("2", half(50)), rolloutOf("3", guidon.Conditions{}, "beta")},
			[]string{"", "", "rules 1, 2 together take everybody who would get here"}},
		{"a quarter in a half", []*guidon.Rollout{rolloutOf("1", half(0)), rolloutOf("2", everyone(&guidon.Portion{Start: 10, Percentage: 25, Split: guidon.Split{Seed: "layer"}}))},
			[]string{"", "rule 1 takes everybody who would get here"}},
		{"another seed", []*guidon.Rollout{rolloutOf("1", half(0)), rolloutOf("2", everyone(&guidon.Portion{Percentage: 25}))}, []string{"", ""}},
		{"a segment except itself", []*guidon.Rollout{rolloutOf("1", except("beta"), "beta"), rolloutOf("2", except("guests"), "staff")},
			[]string{"nobody satisfies constraints 1 of segment beta, 1 of segment beta", ""}},
		{"a group that excludes the segment", []*guidon.Rollout{rolloutOf("1", guidon.Conditions{Groups: []*guidon.ConstraintGroup{
			{Constraints: []*guidon.Constraint{constraint(guidon.StringComparison, "staff", "eq", "no")}},
		}}, "staff")}, []string{"nobody satisfies constraints 1 of segment staff, 1 of its group 1"}},
		{"an empty portion", []*guidon.Rollout{rolloutOf("1", everyone(&guidon.Portion{}))}, []string{"its share is 0%"}},
		{"an exception that does not exist", []*guidon.Rollout{rolloutOf("1", except("nowhere"), "beta")}, []string{"segment nowhere does not exist"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := reachOf(stateOf(flagtest.BooleanFlag("f", false, tt.rollouts...)), "f")
			var got []string
			for i := range r.Steps {
				got = append(got, r.Why(&r.Steps[i]))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("causes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummaryOfConditions(t *testing.T) {
	seeded := func(percentage float32) *guidon.Rollout {
		r := flagtest.Threshold(percentage, true)
		r.Threshold.Split = &guidon.Split{Seed: "s"}
		return r
	}
	codeDefault := ruleOf("1", everyone(nil), nil, nil)
	codeDefault.CodeDefault = true
	for _, tt := range []struct {
		flag *guidon.Flag
		want string
	}{
		{flagtest.BooleanFlag("f", false, rolloutOf("1", inCountry("SE", 20))), "partly: 100% false"},
		{flagtest.BooleanFlag("f", false, rolloutOf("1", everyone(&guidon.Portion{Percentage: 20}))), "partly: 80% false 20% true"},
		{flagtest.BooleanFlag("f", false, seeded(12.345)), "partly: 87.655% false 12.345% true"},
		{flagtest.BooleanFlag("f", false, seeded(50), rolloutOf("1", everyone(&guidon.Portion{Percentage: 50}))), "partly: 75% true 25% false"},
		{flagtest.BooleanFlag("f", false, rolloutOf("1", everyone(nil))), "on: 100% true; everybody true"},
		{flagtest.VariantFlag("f", ruleOf("1", everyone(nil), &guidon.Split{By: "account"}, flagtest.Shares{33.333, 66.667})), "on: 66.6% B 33.3% A 0.1% nothing by default"},
		{flagtest.VariantFlag("f", ruleOf("1", everyone(nil), &guidon.Split{Seed: "s"}, flagtest.Shares{33.333, 66.667})), "on: 66.667% B 33.333% A"},
		{flagtest.WithDefault(flagtest.VariantFlag("f", codeDefault), "A"), "on: 100% nothing by default; everybody nothing by default"},
	} {
		if got := describeSummary(tt.flag, analysis.Summarize(stateOf(tt.flag).Compiled("f"))); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestProbesOfConditions checks that there are probes in and outside each portion and share.
func TestProbesOfConditions(t *testing.T) {
	flag := flagtest.BooleanFlag("f", false,
		rolloutOf("1", inCountry("SE", 20)),
		rolloutOf("2", everyone(&guidon.Portion{Percentage: 50, Split: guidon.Split{By: "account"}})))
	s := stateOf(flag)
	probes, _ := analysis.Probes(flag, nil, 1000)
	seen := map[string]bool{}
	for _, p := range probes {
		e, err := analysis.Decide(s, "f", p.EntityID, p.Context)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprintf("country %q, account %t: %d", p.Context["country"], p.Context["account"] != "", e.Decided)] = true
	}
	for _, want := range []string{
		`country "SE", account false: 0`, `country "SE", account false: -1`, `country "", account true: 1`, `country "", account true: -1`,
	} {
		if !seen[want] {
			t.Errorf("no probe with %s among %v", want, seen)
		}
	}
}
