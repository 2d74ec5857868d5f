package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// The merge functions return a copy of a stored object that matches the document.
// Children that continue to exist keep their ids and creation times. Variants are
// matched by key, other children by as much of their content as possible, and the rest
// by position.

// mergeSegment returns a copy of have with the content of want.
func mergeSegment(have *guidon.Segment, want *DocumentSegment, now time.Time) *guidon.Segment {
	out := *have
	out.Key, out.Name, out.Description, out.MatchType = want.Key, want.Name, want.Description, want.MatchType
	out.UpdatedAt = now
	out.Constraints = nil
	old := documentSegment(have).Constraints
	for i, from := range pair(want.Constraints, old, constraintKeys) {
		w := want.Constraints[i]
		c := &guidon.Constraint{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		if from >= 0 {
			*c = *have.Constraints[from]
			if *old[from] != *w {
				c.UpdatedAt = now
			}
		}
		c.Type, c.Property, c.Operator, c.Value, c.Description = w.Type, w.Property, w.Operator, w.Value, w.Description
		out.Constraints = append(out.Constraints, c)
	}
	return &out
}

// mergeFlag returns a copy of have with the content of want.
func mergeFlag(have *guidon.Flag, want *DocumentFlag, now time.Time) *guidon.Flag {
	out := *have
	out.Key, out.Name, out.Description = want.Key, want.Name, want.Description
	out.Type, out.Enabled, out.UpdatedAt = want.Type, want.Enabled, now
	if !sameJSON(string(have.Metadata), want.Metadata) {
		out.Metadata = json.RawMessage(want.Metadata)
	}
	out.Variants, out.DefaultVariantID = nil, ""
	ids := map[string]string{} // by key
	for _, w := range want.Variants {
		v := mergeVariant(have.VariantByKey(w.Key), w, now)
		out.Variants = append(out.Variants, v)
		ids[v.Key] = v.ID
		if w.Default {
			out.DefaultVariantID = v.ID
		}
	}
	out.Rules = mergeRules(have, want, ids, now)
	out.Rollouts = mergeRollouts(have, want, now)
	return &out
}

func mergeVariant(have *guidon.Variant, want *DocumentVariant, now time.Time) *guidon.Variant {
	if have == nil {
		return &guidon.Variant{
			ID: NewID(), Key: want.Key, Name: want.Name, Description: want.Description,
			Attachment: want.Attachment, CreatedAt: now, UpdatedAt: now,
		}
	}
	out := *have
	out.Name, out.Description = want.Name, want.Description
	if !sameJSON(have.Attachment, want.Attachment) {
		out.Attachment = want.Attachment
	}
	if out != *have {
		out.UpdatedAt = now
	}
	return &out
}

func mergeRules(have *guidon.Flag, want *DocumentFlag, variantIDs map[string]string, now time.Time) []*guidon.Rule {
	old := documentFlag(have).Rules
	var out []*guidon.Rule
	for i, from := range pair(want.Rules, old, ruleKeys) {
		w := want.Rules[i]
		before, documented := &guidon.Rule{ID: NewID(), CreatedAt: now}, &DocumentRule{}
		if from >= 0 {
			before, documented = have.Rules[from], old[from]
		}
		r := *before
		r.SegmentKeys, r.SegmentOperator = slices.Clone(w.SegmentKeys), w.SegmentOperator
		r.Rank = w.effectiveRank(i)
		if from < 0 || r.Rank != before.Rank || !sameContent(documented, w, ruleKeys) {
			r.UpdatedAt = now
		}
		r.Distributions = mergeDistributions(have, before, w, variantIDs, now)
		out = append(out, &r)
	}
	return out
}

func mergeDistributions(flag *guidon.Flag, have *guidon.Rule, want *DocumentRule, variantIDs map[string]string, now time.Time) []*guidon.Distribution {
	old := make([]*DocumentDistribution, len(have.Distributions))
	for i, d := range have.Distributions {
		old[i] = &DocumentDistribution{Rollout: d.Rollout}
		if v := flag.Variant(d.VariantID); v != nil {
			old[i].Variant = v.Key
		}
	}
	var out []*guidon.Distribution
	for i, from := range pair(want.Distributions, old, distributionKeys) {
		w := want.Distributions[i]
		d := &guidon.Distribution{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		if from >= 0 {
			*d = *have.Distributions[from]
			if *old[from] != *w {
				d.UpdatedAt = now
			}
		}
		d.VariantID, d.Rollout = variantIDs[w.Variant], w.Rollout
		out = append(out, d)
	}
	return out
}

func mergeRollouts(have *guidon.Flag, want *DocumentFlag, now time.Time) []*guidon.Rollout {
	old := documentFlag(have).Rollouts
	var out []*guidon.Rollout
	for i, from := range pair(want.Rollouts, old, rolloutKeys) {
		w := want.Rollouts[i]
		r := &guidon.Rollout{ID: NewID(), CreatedAt: now, UpdatedAt: now}
		rank := int32(i + 1) // #nosec G115 -- bounded by the size of a document
		if from >= 0 {
			*r = *have.Rollouts[from]
			if r.Rank != rank || !sameContent(old[from], w, rolloutKeys) {
				r.UpdatedAt = now
			}
		}
		content := w.clone() // w is in the result of the import
		r.Rank, r.Description, r.Segment, r.Threshold = rank, content.Description, content.Segment, content.Threshold
		out = append(out, r)
	}
	return out
}

// Keys by which children are paired, the most specific first. The first key of each
// list is the whole content.
var (
	constraintKeys = []func(c *DocumentConstraint) string{
		func(c *DocumentConstraint) string { return fmt.Sprintf("%q", *c) },
		func(c *DocumentConstraint) string { return fmt.Sprintf("%d %q %q", c.Type, c.Property, c.Operator) },
		func(c *DocumentConstraint) string { return fmt.Sprintf("%d %q", c.Type, c.Property) },
		func(*DocumentConstraint) string { return "" },
	}
	ruleKeys = []func(r *DocumentRule) string{
		func(r *DocumentRule) string {
			text := fmt.Appendf(nil, "%q %d", r.SegmentKeys, r.SegmentOperator)
			for _, d := range r.Distributions {
				text = fmt.Appendf(text, " %q %v", d.Variant, d.Rollout)
			}
			return string(text)
		},
		func(r *DocumentRule) string { return fmt.Sprintf("%q %d", r.SegmentKeys, r.SegmentOperator) },
		func(*DocumentRule) string { return "" },
	}
	distributionKeys = []func(d *DocumentDistribution) string{
		func(d *DocumentDistribution) string { return fmt.Sprintf("%q %v", d.Variant, d.Rollout) },
		func(d *DocumentDistribution) string { return d.Variant },
	}
	rolloutKeys = []func(r *DocumentRollout) string{
		func(r *DocumentRollout) string {
			if s := r.Segment; s != nil {
				return fmt.Sprintf("%q segment %q %d %t", r.Description, s.SegmentKeys, s.SegmentOperator, s.Value)
			}
			return fmt.Sprintf("%q threshold %v", r.Description, r.Threshold)
		},
		func(r *DocumentRollout) string {
			if r.Segment != nil {
				return fmt.Sprintf("segment %q", r.Segment.SegmentKeys)
			}
			return "threshold"
		},
		// The kind of a rollout never changes (contract 4.5).
		func(r *DocumentRollout) string { return fmt.Sprint(r.Segment != nil) },
	}
)

func sameContent[T any](a, b T, keys []func(T) string) bool { return keys[0](a) == keys[0](b) }

// pair returns, for each item of wants, the index of the matching item of haves, or -1.
// Each key is used for the items that the previous keys did not pair.
func pair[T any](wants, haves []T, keys []func(T) string) []int {
	out := slices.Repeat([]int{-1}, len(wants))
	taken := make([]bool, len(haves))
	for _, key := range keys {
		free := map[string][]int{}
		for i, have := range haves {
			if !taken[i] {
				free[key(have)] = append(free[key(have)], i)
			}
		}
		for i, want := range wants {
			if same := free[key(want)]; out[i] < 0 && len(same) > 0 {
				out[i], taken[same[0]] = same[0], true
				free[key(want)] = same[1:]
			}
		}
	}
	return out
}

func sameSegment(have *guidon.Segment, want *DocumentSegment) bool {
	return reflect.DeepEqual(documentSegment(have), want)
}

// sameFlag reports whether the flag matches the document. Ranks are compared only if
// the document sets them; otherwise the order of the rules decides.
func sameFlag(have *guidon.Flag, want *DocumentFlag) bool {
	documented := documentFlag(have)
	if !sameJSON(documented.Metadata, want.Metadata) || len(documented.Variants) != len(want.Variants) ||
		len(documented.Rules) != len(want.Rules) {
		return false
	}
	documented.Metadata = want.Metadata
	for i, v := range documented.Variants {
		if w := want.Variants[i]; sameJSON(v.Attachment, w.Attachment) {
			v.Attachment = w.Attachment
		}
	}
	for i, r := range documented.Rules {
		if want.Rules[i].Rank != 0 {
			r.Rank = have.Rules[i].Rank
		}
	}
	return reflect.DeepEqual(documented, want)
}

// sameJSON reports whether two JSON texts have the same value, with the same order of
// members and the same number literals. It ignores how strings are escaped.
func sameJSON(a, b string) bool {
	if a == b {
		return true
	}
	if a == "" || b == "" {
		return false
	}
	left, right := json.NewDecoder(bytes.NewReader([]byte(a))), json.NewDecoder(bytes.NewReader([]byte(b)))
	left.UseNumber()
	right.UseNumber()
	for {
		x, errX := left.Token()
		y, errY := right.Token()
		if errX != nil || errY != nil {
			return errX == io.EOF && errY == io.EOF
		}
		if x != y {
			return false
		}
	}
}
