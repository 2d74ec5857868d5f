package playground

import (
	"cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// other is another answer, and how to get it.
type other struct {
	Outcome outcome
	Words   []span
	Then    string // the rule that decides then
	Never   bool   // it cannot be had
}

// Limits of the other results.
const (
	maxOthers   = 50
	maxChanges  = 5 // of one answer
	maxOutcomes = 4 // of one property
)

// others returns the other results, and the changes that lead to them.
func (x *explanationView) others() []other {
	all := x.otherBuckets()
	for _, o := range x.e.GetOthers() {
		if len(all) >= maxOthers {
			break
		}
		all = append(all, x.other(o))
	}
	return all
}

// otherBuckets returns the results of entities in other buckets, from rules that have consulted
// the bucket.
func (x *explanationView) otherBuckets() (all []other) {
	for _, s := range x.e.GetSteps() {
		b := s.GetBucket()
		for i, r := range b.GetRanges() {
			if i+1 == int(b.GetChosen()) || r.GetTo() == r.GetFrom() {
				continue
			}
			is := value(s.GetValue())
			if !x.boolean {
				is = x.variant(r.GetVariantKey())
			}
			if is != x.actual() && len(all) < maxOthers {
				all = append(all, other{
					Outcome: is, Words: []span{plain("for an entity in the buckets %s", buckets(r))}, Then: ruleName(s.GetNumber()),
				})
			}
		}
	}
	return all
}

func (x *explanationView) other(o *guidonv1.OtherResult) other {
	v := other{Outcome: value(o.GetEnabled())}
	if !x.boolean {
		v.Outcome = x.variant(o.GetVariantKey())
		if !o.GetMatch() && o.GetVariantKey() != "" {
			v.Outcome.Name += " by default"
		}
	}
	if o.GetVerdict() != "reachable" {
		v.Never = true
		v.Words = x.obstacles(o)
		return v
	}
	v.Words, v.Then = x.changes(o.GetChanges()), "no rule fits then"
	switch {
	case o.GetStep() > 0:
		v.Then = ruleName(o.GetStep())
	case !x.boolean:
		v.Then = "no rule fits then"
	}
	return v
}

// changes returns the changes needed.
func (x *explanationView) changes(changes []*guidonv1.PropertyChange) []span {
	words := []span{plain("if ")}
	for i, c := range changes {
		if i == maxChanges {
			return append(words, plain(", and more"))
		}
		if i > 0 {
			words = append(words, plain(", and "))
		}
		words = append(words, code(cmp.Or(c.GetProperty(), "entity id")))
		words = append(words, demands(c)...)
	}
	return words
}

// demands returns the values that a property needs.
func demands(c *guidonv1.PropertyChange) (words []span) {
	example := guidon.Shorten(c.GetExample(), shortValue)
	said := false // the words already say the example
	for i, o := range c.GetOutcomes() {
		if i == maxOutcomes {
			words = append(words, plain(" and so on"))
			break
		}
		if i > 0 {
			words = append(words, plain(" and"))
		}
		text, operand := demand(o)
		words = append(words, plain(" %s", text))
		if operand {
			words = append(words, plain(" "), code(operandOf(o)))
		}
		said = len(c.GetOutcomes()) == 1 && (!operand || o.GetMatch() && o.GetOperator() == guidon.OpEQ)
	}
	switch {
	case said || len(words) == 0 && example == "":
	case example == "":
		words = append(words, plain(", such as none"))
	case len(words) == 0:
		words = append(words, plain(" were "), code(example))
	default:
		words = append(words, plain(", such as "), code(example))
	}
	return words
}

// demandWords are operators as constraints that would have to hold, or not to hold.
var demandWords = map[string][2]string{
	guidon.OpEQ: {"were", "were anything but"}, guidon.OpNEQ: {"were anything but", "were"},
	guidon.OpIsOneOf: {"were one of", "were none of"}, guidon.OpIsNotOneOf: {"were none of", "were one of"},
	guidon.OpContains: {"contained", "did not contain"}, guidon.OpNotContains: {"did not contain", "contained"},
	guidon.OpPrefix: {"began with", "did not begin with"}, guidon.OpSuffix: {"ended with", "did not end with"},
	guidon.OpLT: {"were less than", "were not less than"}, guidon.OpLTE: {"were at most", "were not at most"},
	guidon.OpGT: {"were greater than", "were not greater than"}, guidon.OpGTE: {"were at least", "were not at least"},
	guidon.OpTrue: {"were true", "were not true"}, guidon.OpFalse: {"were false", "were not false"},
	guidon.OpEmpty: {"were empty", "were not empty"}, guidon.OpNotEmpty: {"were not empty", "were empty"},
	guidon.OpPresent: {"were set", "were missing"}, guidon.OpNotPresent: {"were missing", "were set"},
}

// demand returns the constraint in words, and whether a value follows.
func demand(o *guidonv1.OutcomeChange) (string, bool) {
	words, known := demandWords[o.GetOperator()]
	if !known {
		words = [2]string{"matched " + o.GetOperator(), "did not match " + o.GetOperator()}
	}
	text := words[1]
	if o.GetMatch() {
		text = words[0]
	}
	return text, operandOf(o) != ""
}

// operandOf returns the value of the constraint in words.
func operandOf(o *guidonv1.OutcomeChange) string {
	c := guidon.Constraint{Operator: o.GetOperator(), Value: o.GetExpected()}
	_, _, operand := analysis.ConstraintWords(&c)
	return operand
}

// obstacles returns why the answer cannot be had.
func (x *explanationView) obstacles(o *guidonv1.OtherResult) (words []span) {
	for i, b := range o.GetObstacles() {
		if i == maxChanges {
			return append(words, plain("; and so on"))
		}
		if i > 0 {
			words = append(words, plain("; "))
		}
		words = append(words, span{Text: x.obstacle(b)})
	}
	if len(words) == 0 {
		words = []span{plain("not for this entity")}
	}
	return words
}

func (x *explanationView) obstacle(b *guidonv1.Obstacle) string {
	rule, by := ruleName(b.GetStep()), ruleName(b.GetBy())
	segment, _ := x.m.info.SegmentName(b.GetSegmentKey())
	none := b.GetStep() == 0 // the answer if no rule fits
	switch b.GetReason() {
	case "flag_disabled":
		return "not while the flag is off"
	case "no_rule":
		if x.boolean {
			return "no rule gives it"
		}
		return "no rule gives it"
	case "no_segments":
		return rule + " has no segment, so it never fits"
	case "segment_missing":
		return rule + " needs the segment " + segment + ", which does not exist"
	case "empty_range":
		return rule + " has no bucket for it"
	case "other_bucket":
		return rule + " gives it to other buckets"
	case "earlier_step", "earlier_steps":
		if none {
			return by + " always fits before"
		}
		return by + " always fits before " + rule + " would"
	case "unknown_constraint":
		return by + " has a constraint of an unknown type, with which evaluations fail"
	case "contradiction":
		switch {
		case b.GetProperty() != "":
			return "no value of " + page.Printable(b.GetProperty(), shortValue) + " fits " + segment + " in " + rule
		case b.GetSegmentKey() != "":
			return "nothing fits " + segment + " in " + rule
		}
		return "nothing fits all segments of " + rule
	case "other_entity":
		return rule + " needs another entity id"
	case "limit":
		return "this flag is too large to find out"
	}
	return "nothing was found that leads there, although there may be something"
}
