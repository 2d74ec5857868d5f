package analysis

import (
	"fmt"
	"slices"

	"github.com/guidonhq/guidon"
)

// ClientOmission returns why client-side snapshots leave the flag out, such as "rule 2 compares
// a version", or "" if they have it: the client engines of Flipt would give another result
// (contract 9.5).
func ClientOmission(f *guidon.CompiledFlag) string { return clientOmissions.Of(f) }

var clientOmissions = guidon.NewCompiledDerivation(func(f *guidon.CompiledFlag) string {
	for i, step := range f.Steps() {
		if what := serverOnly(f.Flag(), i, step.Audience); what != "" {
			return fmt.Sprintf("rule %d %s", i+1, what)
		}
	}
	return ""
})

// serverOnly returns what client engines cannot do with the rule or rollout, or "".
func serverOnly(f *guidon.Flag, i int, audience *guidon.Audience) string {
	if audience != nil {
		for _, g := range audience.Segments() {
			if what := serverOnlyConstraints(g.Segment().Constraints); what != "" {
				return what
			}
		}
	}
	if f.Type == guidon.VariantFlag {
		r := f.Rules[i]
		switch {
		case r.CodeDefault:
			return "gives the default in the code"
		case isSplit(r.Split):
			return "divides its shares in a way of its own"
		}
		return serverOnlyConditions(&r.Conditions, r.SegmentKeys, r.SegmentOperator)
	}
	r := f.Rollouts[i]
	if t := r.Threshold; t != nil {
		if t.Start != 0 || isSplit(t.Split) {
			return "takes its share in a way of its own"
		}
		return ""
	}
	return serverOnlyConditions(&r.Conditions, r.Segment.SegmentKeys, r.Segment.SegmentOperator)
}

// isSplit reports whether the split is another one than the flag's own.
func isSplit(s *guidon.Split) bool {
	return s != nil && (s.By != "" || s.Seed != "" || s.Hash > guidon.FliptHash)
}

func serverOnlyConditions(c *guidon.Conditions, keys []string, operator guidon.SegmentOperator) string {
	for _, g := range c.Groups {
		if what := serverOnlyConstraints(g.Constraints); what != "" {
			return what
		}
	}
	switch p := c.Portion; {
	case len(c.ExceptSegmentKeys) > 0:
		return "has exceptions"
	case p != nil && (p.Percentage < 100 || p.By != ""):
		return "is for a portion"
	case len(c.Groups) > 0 && len(keys) > 1 && operator != guidon.AndSegments:
		return "has conditions for any of several segments"
	}
	return ""
}

// serverOnlyTypes are the comparison types that client engines do not know, as what a rule does
// with them.
var serverOnlyTypes = map[guidon.ComparisonType]string{
	guidon.VersionComparison: "compares a version", guidon.PatternComparison: "compares with a pattern",
	guidon.ListComparison: "compares a list", guidon.AddressComparison: "compares an address",
}

// serverOnlyConstraints returns what client engines cannot do with the constraints, or "".
func serverOnlyConstraints(constraints []*guidon.Constraint) string {
	i := slices.IndexFunc(constraints, func(c *guidon.Constraint) bool { return c.Negate || c.Type.Addition() })
	switch {
	case i < 0:
		return ""
	case constraints[i].Negate:
		return "negates a constraint"
	}
	return serverOnlyTypes[constraints[i].Type]
}
