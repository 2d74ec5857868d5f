package document

import (
	"github.com/guidonhq/guidon"
)

// conditions returns the fields for the conditions of a rule. All of them are additions.
func conditions(c *guidon.Conditions) []field {
	return additions(
		listOf("if", &c.Groups, asGroup),
		listOf("except", &c.ExceptSegmentKeys, asText),
		optional("everyone", &c.Everyone, asBoolean),
		requirements(&c.Requires),
		optional("portion", &c.Portion, asPortion),
		optional("from", &c.From, asInstant),
		optional("until", &c.Until, asInstant),
	)
}

// asGroup is the form of the constraints of all or any.
var asGroup = pointerTo(form[guidon.ConstraintGroup]{
	read: func(d *decoder, n *node, g *guidon.ConstraintGroup) {
		given := 0
		as := func(match guidon.MatchType) func(*decoder, *node) {
			return func(*decoder, *node) { given, g.MatchType = given+1, match }
		}
		d.object(n, []field{
			constraints("all", g).and(as(guidon.MatchAll)),
			constraints("any", g).and(as(guidon.MatchAny)),
		})
		if given > 1 {
			d.fail(n, "invalid field all or any: only one can be present")
		}
	},
	write: func(e *encoder, g *guidon.ConstraintGroup) *node {
		name := "all"
		if g.MatchType == guidon.MatchAny {
			name = "any"
		}
		return e.object([]field{constraints(name, g)})
	},
})

func constraints(name string, g *guidon.ConstraintGroup) field {
	return listOf(name, &g.Constraints, asConstraint)
}

func requirements(at *[]guidon.Requirement) field {
	return listOf("requires", at, asRequirement)
}

var asRequirement = objectOf(func(r *guidon.Requirement) []field {
	return []field{always("flag", &r.FlagKey, asText), listOf("is", &r.Answers, asText)}
})

var asPortion = pointerTo(objectOf(func(p *guidon.Portion) []field {
	return append([]field{always("percentage", &p.Percentage, asPercentage)}, shareFields(&p.Start, &p.Split, &p.Ramp)...)
}))

// shareFields returns the fields of a portion or a threshold besides its percentage.
func shareFields(start *float32, s *guidon.Split, r **guidon.Ramp) []field {
	all := append([]field{optional("start", start, asPercentage)}, splitFields(s)...)
	return append(all, optional("ramp", r, asRamp))
}

func splitFields(s *guidon.Split) []field {
	return []field{
		optional("by", &s.By, asText),
		optional("seed", &s.Seed, asText),
		optional("hash", &s.Hash, asEnum[guidon.BucketHash]()),
	}
}

var asRamp = pointerTo(objectOf(func(r *guidon.Ramp) []field {
	return []field{
		optional("start", &r.Start, asInstant),
		optional("from", &r.Initial, asPercentage),
		optional("over", &r.Over, asDuration),
		listOf("steps", &r.Steps, objectOf(func(s *guidon.RampStep) []field {
			return []field{always("percentage", &s.Percentage, asPercentage), optional("for", &s.For, asDuration)}
		})),
		optional("paused", &r.Paused, asInstant),
		optional("reversed", &r.Reversed, asInstant),
		optional("delay", &r.Delay, asDuration),
		optional("confirm", &r.Confirm, pointerTo(objectOf(func(c *guidon.RampConfirm) []field {
			return []field{
				optional("every", &c.Every, asDuration),
				optional("lapse", &c.Lapse, asEnum[guidon.RampLapse]()),
				optional("last", &c.Last, asInstant),
			}
		}))),
	}
}))
