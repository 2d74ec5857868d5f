package analysis

import (
	"fmt"

	"github.com/guidonhq/guidon"
)

// ClientOmission returns why client-side snapshots leave the flag out, such as "rule 2 compares
// a version", or "" if they have it: the client engines of Flipt would give another result
// (contract 9.5).
func ClientOmission(f *guidon.CompiledFlag) string { return clientOmissions.Of(f) }

var clientOmissions = guidon.NewCompiledDerivation(func(f *guidon.CompiledFlag) string {
	for i, audience := range f.Steps() {
		if audience == nil {
			continue // a threshold
		}
		for _, g := range audience.Segments() {
			if what := serverOnly(g.Segment()); what != "" {
				return fmt.Sprintf("rule %d %s", i+1, what)
			}
		}
	}
	return ""
})

// serverOnlyTypes are the comparison types that client engines do not know, as what a rule does
// with them.
var serverOnlyTypes = map[guidon.ComparisonType]string{
	guidon.VersionComparison: "compares a version", guidon.PatternComparison: "compares with a pattern",
	guidon.ListComparison: "compares a list", guidon.AddressComparison: "compares an address",
}

// serverOnly returns what client engines cannot do with the segment, or "".
func serverOnly(g *guidon.Segment) string {
	for _, c := range g.Constraints {
		switch {
		case c.Negate:
			return "negates a constraint"
		case c.Type.Addition():
			return serverOnlyTypes[c.Type]
		}
	}
	return ""
}
