package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// ClientOmission returns why client-side snapshots leave the flag out, such as "rule 2 compares
// a version", or "" if they have it: the client engines of Flipt would give another result
// (contract 9.5).
func ClientOmission(f *guidon.CompiledFlag) string { return clientOmissions.Of(f) }

var clientOmissions = guidon.NewFlagDerivation(func(f *guidon.CompiledFlag) string {
	if len(f.Flag().Requires) > 0 {
		return "it requires other flags"
	}
	for i, step := range f.Steps() {
		if what := serverOnly(f.Flag(), i, step); what != "" {
			return fmt.Sprintf("rule %d %s", i+1, what)
		}
	}
	return ""
})

// ComingOmission is [ClientOmission] for the flag with the key, which must exist. If client-side
// snapshots have it now and leave it out later, the reason says when, such as "from 1 December 2026
// 09:00 UTC, rule 2 is for a portion".
func ComingOmission(s *guidon.Snapshot, flagKey string) string {
	f := s.Compiled(flagKey)
	if reason := ClientOmission(f); reason != "" {
		return reason
	}
	for _, boundary := range effectBoundaries(s.Epoch(), f.Flag()) {
		at := time.Unix(boundary, 0)
		if reason := ClientOmission(s.CompiledAt(flagKey, at)); reason != "" {
			return "from " + InstantWords(at) + ", " + reason
		}
	}
	return ""
}

// serverOnly returns what client engines cannot do with the rule or rollout, or "".
func serverOnly(f *guidon.Flag, i int, step guidon.Step) string {
	if f.Type == guidon.VariantFlag {
		switch r := f.Rules[i]; {
		case r.CodeDefault:
			return "gives the default in the code"
		case isSplit(r.Split):
			return "divides its shares in a way of its own"
		}
		return serverOnlyStep(step, f.Rules[i].Stated())
	}
	switch t := f.Rollouts[i].Threshold; {
	case t == nil:
		return serverOnlyStep(step, f.Rollouts[i].Stated())
	case t.Start != 0 || isSplit(t.Split):
		return "takes its share in a way of its own"
	}
	return ""
}

// isSplit reports whether the split is another one than the flag's own.
func isSplit(s *guidon.Split) bool {
	return s != nil && (s.By != "" || s.Seed != "" || s.Hash > guidon.FliptHash)
}

func serverOnlyStep(step guidon.Step, stated *guidon.Conditions) string {
	switch c := step.Conditions; {
	case len(stated.Requires) > 0:
		return "requires other flags"
	case len(stated.ExceptSegmentKeys) > 0:
		return "has exceptions"
	case c != nil && c.Portion != nil:
		return "is for a portion"
	case c != nil && c.Also != nil:
		return "has conditions for any of several segments"
	}
	for _, g := range step.Audience.Segments() {
		if what := serverOnlyConstraints(g.Segment().Constraints); what != "" {
			return what
		}
	}
	return ""
}

// serverOnlyConstraints returns what client engines cannot do with the constraints, or "".
func serverOnlyConstraints(constraints []*guidon.Constraint) string {
	for _, c := range constraints {
		switch {
		case c.Negate:
			return "negates a constraint"
		case c.Type.Addition():
			return comparisonTypes[c.Type].serverOnly
		case isTextList(c) && strings.Contains(ClientValue(c), `\`):
			return "compares with a list of texts that JSON escapes"
		}
	}
	return ""
}

// ClientValue returns the value of the constraint in the form in which client engines read it
// (contract 9.4): a date as an instant, and texts of a list without escapes that JSON does not require.
func ClientValue(c *guidon.Constraint) string {
	switch {
	case c.Type == guidon.DateTimeComparison && len(c.Value) == len(time.DateOnly):
		if o := c.Operand(); o.Valid {
			return o.Instant.Format(time.RFC3339)
		}
	case isTextList(c) && (strings.Contains(c.Value, `\`) || strings.Contains(c.Value, "null")):
		if o := c.Operand(); o.Valid {
			var list bytes.Buffer
			encoder := json.NewEncoder(&list)
			encoder.SetEscapeHTML(false)
			_ = encoder.Encode(o.Texts) // which cannot fail for texts
			return strings.TrimSuffix(list.String(), "\n")
		}
	}
	return c.Value
}

func isTextList(c *guidon.Constraint) bool { return isText(c) && takesList(c) }
