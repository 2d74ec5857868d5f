package analysis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/flagtest"
)

// FuzzReachAndExplain checks that reach and explanations agree about what never happens, see
// [checkAgreement].
func FuzzReachAndExplain(f *testing.F) {
	f.Add([]byte(nil), "user-1", "US")
	for seed := range 64 {
		data := make([]byte, 400)
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data, []string{"user-1", "a", ""}[seed%3], []string{"ab", "5", "a b", "2024-01-01", ""}[seed%5])
	}
	f.Fuzz(func(t *testing.T, data []byte, entityID, value string) {
		input := flagtest.NewFuzzInput(data)
		flag := input.WithShares().Flag()
		segments := input.Segments(value)
		if input.Bool() {
			segments = relatedSegments(input, value)
		}
		s := flagtest.SnapshotOf(flag, segments...)
		for _, context := range []map[string]string{nil, {"p0": value, "p1": entityID, "": value}, {"p0": "b", "p1": "6"}} {
			checkAgreement(t, s, flag.Key, entityID, context)
		}
	})
}

// TestReachAndExplain checks the same for random flags of two other kinds: small ones with
// many collisions, and those that the service would store.
func TestReachAndExplain(t *testing.T) {
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	for seed := range runs {
		small := newRandomFlags(uint64(seed), 2)
		flag, segments := small.flag(), small.segments()
		s := flagtest.SnapshotOf(flag, segments...)
		checkAgreement(t, s, flag.Key, small.of("u1", "u3"), small.context())
		flags, segments := flagtest.NewSource(uint64(seed)).Plain().State(1)
		stored := flagtest.SnapshotOf(flags[0], segments...)
		checkAgreement(t, stored, flags[0].Key, "u1", small.context())
		if t.Failed() {
			t.Fatalf("seed %d: %s\n%s", seed, flagJSON(flag, segments), flagJSON(flags[0], segments))
		}
	}
}

// relatedSegments returns segments with constraints that often imply or exclude each other.
func relatedSegments(s *flagtest.FuzzInput, value string) (segments []*guidon.Segment) {
	operands := map[guidon.ComparisonType][]string{
		guidon.StringComparison:   {"a", "ab", "b", "ba", "bab", " a", "5", value, `["a","ab"]`, `["b","5"]`, ""},
		guidon.NumberComparison:   {"4", "5", "6", "5.0", `[4,6]`, `[5]`, "NaN", value},
		guidon.BooleanComparison:  {""},
		guidon.DateTimeComparison: {"2024-01-01", "2024-01-02", "2024-01-01T00:00:00Z", "2024-01-01T12:00:00Z"},
		guidon.EntityIDComparison: {"a", "ab", "user-1", `["a","user-1"]`},
		guidon.VersionComparison:  {"5", "5.0.0-a", "5.0.0-a.0", "6", value},
		guidon.ListComparison:     {`["a"]`, `["a","b"]`, `["b","5"]`, `[" "]`, `[]`, value},
		guidon.AddressComparison:  {`["10.0.0.0/8"]`, `["10.1.0.0/16","::1"]`, `["::/0","0.0.0.0/0"]`, value},
		guidon.PatternComparison:  {"a", "^5", value},
	}
	kinds := []guidon.ComparisonType{
		guidon.StringComparison, guidon.NumberComparison, guidon.StringComparison, guidon.NumberComparison,
		guidon.StringComparison, guidon.BooleanComparison, guidon.DateTimeComparison, guidon.EntityIDComparison,
		guidon.VersionComparison, guidon.ListComparison, guidon.AddressComparison, guidon.PatternComparison,
	}
	kind := kinds[s.Below(len(kinds))]
	for i := range 3 {
		g := flagtest.Segment(fmt.Sprint("s", i), guidon.MatchType(s.Below(2)))
		for range s.Below(4) {
			if s.Below(6) == 0 {
				kind = kinds[s.Below(len(kinds))]
			}
			operators := kind.Operators()
			if kind == guidon.EntityIDComparison {
				operators = guidon.StringComparison.Operators() // all of them are evaluated
			}
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				Type: kind, Property: []string{"p0", "p0", "p1"}[s.Below(3)],
				Operator: operators[s.Below(len(operators))].Name, Value: operands[kind][s.Below(len(operands[kind]))], Negate: s.Below(4) == 0,
			})
		}
		segments = append(segments, g)
	}
	return segments
}

// checkAgreement compares the reach of a flag with an explanation: what is never reached
// does not happen to the entity, and no context is offered for it but a reason why there is
// none. The reverse holds for reasons that are independent of the entity.
func checkAgreement(t *testing.T, s *guidon.Snapshot, flagKey, entityID string, context map[string]string) {
	t.Helper()
	flag := s.Flag(flagKey)
	e, err := analysis.Explain(s, flagKey, entityID, context)
	if flag.Type > guidon.BooleanFlag || err != nil {
		return
	}
	a := &agreement{t, reachOf(s, flagKey), e, dependsOnEntity(s, flag)}
	if disabled := flag.Type == guidon.VariantFlag && !flag.Enabled; a.never(e.Decided) && !disabled {
		t.Errorf("step %d decided: %v", e.Decided, describeReach(a.reach))
	}
	for i := range e.Others {
		a.check(&e.Others[i])
	}
	if t.Failed() {
		t.Logf("reach: %v; entity %q, context %q", describeReach(a.reach), entityID, context)
		for _, r := range flag.Rules {
			t.Logf("rule: %q by %v", r.SegmentKeys, r.SegmentOperator)
		}
		for i := range flag.Rollouts {
			t.Logf("rollout %d: %+v %+v", i, flag.Rollouts[i].Threshold, flag.Rollouts[i].Segment)
		}
		var segments []*guidon.Segment
		for key := range flag.SegmentKeys() {
			if g := s.Segment(key); g != nil && !slices.Contains(segments, g) {
				segments = append(segments, g)
			}
		}
		t.Log(constraintsOf(segments))
	}
}

// agreement compares the reach of a flag with an explanation.
type agreement struct {
	t               *testing.T
	reach           *analysis.Reach
	e               *analysis.Explanation
	dependsOnEntity bool
}

// dependsOnEntity reports whether entities with the same context may get further than
// others.
func dependsOnEntity(s *guidon.Snapshot, flag *guidon.Flag) bool {
	if slices.ContainsFunc(flag.Rollouts, func(r *guidon.Rollout) bool { return r.Threshold != nil }) {
		return true
	}
	for key := range flag.SegmentKeys() {
		if g := s.Segment(key); g != nil && slices.ContainsFunc(g.Constraints, func(c *guidon.Constraint) bool { return c.Type == guidon.EntityIDComparison }) {
			return true
		}
	}
	return false
}

// cause returns the reach of the step, or of the default for -1.
func (a *agreement) cause(step int) analysis.Cause {
	if step < 0 {
		return a.reach.Default.Cause
	}
	return a.reach.Steps[step].Cause
}

func (a *agreement) never(step int) bool { return a.cause(step) != analysis.Reached }

func (a *agreement) check(o *analysis.OtherResult) {
	a.t.Helper()
	if o.Verdict == analysis.Reachable {
		if a.never(o.Step) {
			a.t.Errorf("%+v: step %d is never reached", o, o.Step)
		}
		if o.VariantKey != "" && slices.Contains(a.reach.Unserved, o.VariantKey) {
			a.t.Errorf("%+v: nobody gets it", o)
		}
		return
	}
	open := 0
	for _, b := range o.Obstacles {
		if b.Reason == analysis.NotDecided || b.Reason == analysis.WorkLimit {
			open++
		}
		a.checkObstacle(b)
	}
	if (open > 0) != (o.Verdict == analysis.Undecided) && !a.e.Limited {
		a.t.Errorf("verdict %s, but %d obstacles are not certain: %+v", o.Verdict, open, o.Obstacles)
	}
}

func (a *agreement) checkObstacle(b analysis.Obstacle) {
	a.t.Helper()
	cause := a.cause(b.Step)
	agrees := true
	switch b.Reason {
	case analysis.NotDecided:
		agrees = cause == analysis.Reached
	case analysis.Contradiction:
		agrees = cause == analysis.Unsatisfiable
	case analysis.OtherEntity:
		agrees = cause != analysis.Unsatisfiable
	case analysis.NoSegments, analysis.SegmentMissing:
		agrees = cause == analysis.MissingSegment
	case analysis.EarlierStep, analysis.EarlierSteps:
		agrees = cause == analysis.Shadowed || a.dependsOnEntity || cause == analysis.Unsatisfiable && b.Reason == analysis.EarlierStep
	}
	if !agrees && !a.reach.Truncated {
		a.t.Errorf("step %d is not given because of reason %s (%+v), and its reach is %d", b.Step, b.Reason, b, cause)
	}
}
