package review

import (
	"cmp"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// FlagDifferences returns the differences between two flags. former has the former keys of
// the variants that have another one after the edit.
func FlagDifferences(before, after *guidonv1.DocumentFlag, former map[string]string) []change.Difference {
	return change.CompareFlagVersions(storedFlag(before, nil), storedFlag(after, former))
}

// SegmentDifferences returns the differences between two segments.
func SegmentDifferences(before, after *guidonv1.DocumentSegment) []change.Difference {
	return change.CompareSegments(storedSegment(before), storedSegment(after))
}

// CountChanges returns how many parts of an object differ. The shares of a rule are one.
func CountChanges(differences []change.Difference) int {
	parts := make(map[string]bool)
	for _, d := range differences {
		rule, _, shares := strings.Cut(d.Path, ".distributions")
		if shares {
			rule += ".distributions"
		} else {
			rule += " " + string(d.Op)
		}
		parts[rule] = true
	}
	return len(parts)
}

// storedFlag returns a flag in which the id of a variant is the key that it had before the edit.
func storedFlag(m *guidonv1.DocumentFlag, former map[string]string) *guidon.Flag {
	d := convert.DocumentFlagOf(m)
	id := func(key string) string { return cmp.Or(former[key], key) }
	f := &guidon.Flag{
		Key: d.Key, Name: d.Name, Description: d.Description, Type: d.Type, Enabled: d.Enabled, Metadata: json.RawMessage(d.Metadata),
		Requires: d.Requires,
	}
	for _, v := range d.Variants {
		f.Variants = append(f.Variants, &guidon.Variant{
			ID: id(v.Key), Key: v.Key, Name: v.Name, Description: v.Description, Attachment: v.Attachment,
		})
		if v.Default {
			f.DefaultVariantID = id(v.Key)
		}
	}
	for _, r := range d.Rules {
		rule := &guidon.Rule{
			SegmentKeys: r.SegmentKeys, SegmentOperator: r.SegmentOperator, Split: r.Split, CodeDefault: r.CodeDefault, Conditions: r.Conditions,
		}
		for _, s := range r.Distributions {
			rule.Distributions = append(rule.Distributions, &guidon.Distribution{VariantID: id(s.Variant), Rollout: s.Rollout})
		}
		f.Rules = append(f.Rules, rule)
	}
	for _, r := range d.Rollouts {
		f.Rollouts = append(f.Rollouts, &guidon.Rollout{
			Description: r.Description, Segment: r.Segment, Threshold: r.Threshold, Conditions: r.Conditions,
		})
	}
	return f
}

func storedSegment(m *guidonv1.DocumentSegment) *guidon.Segment {
	d := convert.DocumentSegmentOf(m)
	g := &guidon.Segment{Key: d.Key, Name: d.Name, Description: d.Description, MatchType: d.MatchType}
	for _, c := range d.Constraints {
		g.Constraints = append(g.Constraints, &guidon.Constraint{
			Type: c.Type, Property: c.Property, Operator: c.Operator, Value: c.Value, Negate: c.Negate, Description: c.Description,
		})
	}
	return g
}

// maxCompared limits the documents that are compared, in bytes together.
const maxCompared = 1 << 20

// documentDiff returns the difference between two documents as exported, or nil if there is
// none, and whether they are small enough to be compared.
func documentDiff(before, after *guidonv1.Document) (*Diff, bool) {
	if proto.Size(before)+proto.Size(after) > maxCompared {
		return nil, false
	}
	text, err := document.DiffObjects("before", convert.DocumentOf(before), "after", convert.DocumentOf(after))
	return ParseDiff(text), err == nil
}
