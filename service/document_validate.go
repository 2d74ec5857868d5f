package service

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon"
)

// maxProblems limits how many problems of a document are reported together.
const maxProblems = 50

// Validate checks the document by all rules of the management API (contract 4), and
// that it contains everything it refers to. It returns InvalidArgument with one line
// for each of the first 50 problems, which starts with its path in the document.
func (d *Document) Validate() error { return d.check(map[string]bool{}) }

// check is Validate, but rules may also refer to the segments in known. It adds the
// document's segments to known.
func (d *Document) check(known map[string]bool) error {
	p := &problems{}
	namespace := d.Namespace
	namespace.Key = guidon.NamespaceKey(namespace.Key)
	p.at("namespace", func(p *problems) { p.add(namespace.check()) })
	seen := map[string]bool{}
	for i, g := range d.Segments {
		if g == nil {
			continue
		}
		p.item("segments", i, g.Key, func(p *problems) {
			p.checkUnique(seen, "segment", g.Key)
			g.normalize(p)
		})
		known[g.Key] = true
	}
	clear(seen)
	for i, f := range d.Flags {
		if f == nil {
			continue
		}
		p.item("flags", i, f.Key, func(p *problems) {
			p.checkUnique(seen, "flag", f.Key)
			f.normalize(p, known)
		})
	}
	return p.err()
}

func (n DocumentNamespace) check() error {
	if n.Name == "" {
		n.Name = n.Key
	}
	if err := checkNewKey(n.Key, n.Name); err != nil {
		return err
	}
	return checkTexts(field{"name", n.Name}, field{"description", n.Description})
}

// The normalize methods check an object and return its normal form, in which its content
// is stored and exported: attachments compacted, values normalized, rules sorted by
// rank, at most one default variant, no empty slices.

func (g *DocumentSegment) normalize(p *problems) *DocumentSegment {
	p.add(checkNewKey(g.Key, g.Name))
	p.add(checkTexts(field{"name", g.Name}, field{"description", g.Description}))
	p.add(checkEnum("matchType", g.MatchType))
	out := &DocumentSegment{Key: g.Key, Name: g.Name, Description: g.Description, MatchType: g.MatchType}
	for i, c := range g.Constraints {
		if c == nil {
			continue
		}
		p.entry("constraints", i, func(p *problems) {
			checked, err := ConstraintInput{
				SegmentKey: "segment", // the key itself has been checked above
				Type:       c.Type, Property: c.Property, Operator: c.Operator,
				Value: c.Value, Description: c.Description,
			}.check()
			p.add(err)
			p.add(checkTexts(field{"property", c.Property}, field{"value", c.Value}, field{"description", c.Description}))
			out.Constraints = append(out.Constraints, documentConstraint(&checked))
		})
	}
	return out
}

func (f *DocumentFlag) normalize(p *problems, segments map[string]bool) *DocumentFlag {
	p.add(checkNewKey(f.Key, f.Name))
	p.add(checkTexts(field{"name", f.Name}, field{"description", f.Description}))
	p.add(checkEnum("type", f.Type))
	metadata, err := checkMetadata(json.RawMessage(f.Metadata))
	p.add(err)
	out := &DocumentFlag{
		Key: f.Key, Name: f.Name, Type: f.Type, Description: f.Description,
		Enabled: f.Enabled, Metadata: string(metadata),
	}
	out.Variants = f.normalizeVariants(p)
	out.Rules = f.normalizeRules(p, segments)
	for i, r := range f.Rollouts {
		if r == nil {
			continue
		}
		p.entry("rollouts", i, func(p *problems) {
			out.Rollouts = append(out.Rollouts, r.normalize(p, segments))
		})
	}
	return out
}

func (f *DocumentFlag) normalizeVariants(p *problems) []*DocumentVariant {
	var out []*DocumentVariant
	var last *DocumentVariant // the last one with Default set
	seen := map[string]bool{}
	for i, v := range f.Variants {
		if v == nil {
			continue
		}
		p.item("variants", i, v.Key, func(p *problems) {
			p.checkUnique(seen, "variant", v.Key)
			p.add(requireAll(field{"key", v.Key}))
			p.add(checkTexts(field{"key", v.Key}, field{"name", v.Name}, field{"description", v.Description}))
			attachment, err := VariantInput{Name: v.Name, Attachment: v.Attachment}.check()
			p.add(err)
			variant := &DocumentVariant{
				Default: v.Default, Key: v.Key, Name: v.Name, Description: v.Description, Attachment: attachment,
			}
			if v.Default {
				if last != nil {
					last.Default = false
				}
				last = variant
			}
			out = append(out, variant)
		})
	}
	return out
}

// normalizeRules returns the rules sorted by rank. If the document sets any rank, all
// ranks are set.
func (f *DocumentFlag) normalizeRules(p *problems, segments map[string]bool) []*DocumentRule {
	variants := map[string]bool{}
	for _, v := range f.Variants {
		if v != nil {
			variants[v.Key] = true
		}
	}
	out := &DocumentFlag{Key: f.Key}
	explicit := false
	for i, r := range f.Rules {
		if r == nil {
			continue
		}
		p.entry("rules", i, func(p *problems) {
			out.Rules = append(out.Rules, r.normalize(p, f.Key, variants, segments))
		})
		explicit = explicit || r.Rank != 0
	}
	if explicit {
		for i, r := range out.Rules {
			r.Rank = r.effectiveRank(i)
		}
	}
	return out.RulesByRank()
}

func (r *DocumentRule) normalize(p *problems, flag string, variants, segments map[string]bool) *DocumentRule {
	segmentKeys, err := RuleInput{SegmentKeys: r.SegmentKeys, SegmentOperator: r.SegmentOperator}.check()
	p.add(err)
	p.segments(segmentKeys, segments)
	if r.Rank < 0 {
		p.add(invalidField("rank", "must be greater than 0"))
	}
	out := &DocumentRule{
		SegmentKeys: segmentKeys, SegmentOperator: combine(segmentKeys, r.SegmentOperator), Rank: r.Rank,
	}
	for i, d := range r.Distributions {
		if d == nil {
			continue
		}
		p.entry("distributions", i, func(p *problems) {
			p.add(checkRollout(d.Rollout))
			if !variants[d.Variant] {
				p.add(guidon.Errorf(guidon.InvalidArgument, "finding variant: %s; flag: %s", d.Variant, flag))
			}
			out.Distributions = append(out.Distributions, &DocumentDistribution{Variant: d.Variant, Rollout: d.Rollout})
		})
	}
	return out
}

func (r *DocumentRollout) normalize(p *problems, segments map[string]bool) *DocumentRollout {
	in := RolloutInput{Threshold: r.Threshold}
	if r.Segment != nil {
		in.Segment = &RolloutSegmentInput{
			SegmentKeys: r.Segment.SegmentKeys, SegmentOperator: r.Segment.SegmentOperator, Value: r.Segment.Value,
		}
	}
	switch {
	case in.Segment != nil && in.Threshold != nil:
		p.add(invalidField("segment or threshold", "only one can be present"))
	case in.Segment == nil && in.Threshold == nil:
		p.add(guidon.Errorf(guidon.InvalidArgument, "rollout rule is missing"))
	}
	segment, err := in.check()
	p.add(err)
	p.add(checkTexts(field{"description", r.Description}))
	out := &DocumentRollout{Description: r.Description, Segment: segment}
	if segment != nil {
		p.segments(segment.SegmentKeys, segments)
	}
	if r.Threshold != nil {
		threshold := *r.Threshold
		out.Threshold = &threshold
	}
	return out
}

// problems collects the errors of a document.
type problems struct {
	path  []step // of the part being checked
	found []string
	more  int // not in found, because of maxProblems
}

// step is one element of a path. It is formatted only if there is a problem.
type step struct {
	name  string
	index int // in a list, or -1
	key   string
	keyed bool
}

func (at step) String() string {
	switch {
	case at.index < 0:
		return at.name
	case at.keyed:
		return fmt.Sprintf("%s[%d] %q", at.name, at.index, at.key)
	}
	return fmt.Sprintf("%s[%d]", at.name, at.index)
}

// at runs check with the path extended by name.
func (p *problems) at(name string, check func(p *problems)) {
	p.within(step{name: name, index: -1}, check)
}

// entry is at for an entry of a list.
func (p *problems) entry(list string, index int, check func(p *problems)) {
	p.within(step{name: list, index: index}, check)
}

// item is at for an entry of a list whose entries have keys.
func (p *problems) item(list string, index int, key string, check func(p *problems)) {
	p.within(step{name: list, index: index, key: key, keyed: true}, check)
}

func (p *problems) within(at step, check func(p *problems)) {
	p.path = append(p.path, at)
	check(p)
	p.path = p.path[:len(p.path)-1]
}

func (p *problems) add(err error) {
	switch {
	case err == nil:
	case len(p.found) == maxProblems:
		p.more++
	default:
		var text strings.Builder
		for _, at := range p.path {
			text.WriteString(at.String() + ": ")
		}
		p.found = append(p.found, text.String()+guidon.PublicMessage(err))
	}
}

// checkUnique reports a problem if the key is in seen, and adds it otherwise.
func (p *problems) checkUnique(seen map[string]bool, kind, key string) {
	if seen[key] {
		p.add(guidon.Errorf(guidon.InvalidArgument, "%s %q is not unique", kind, key))
	}
	seen[key] = true
}

func (p *problems) segments(keys []string, known map[string]bool) {
	for _, key := range keys {
		if !known[key] {
			p.add(guidon.Errorf(guidon.InvalidArgument, "segment %q not found", key))
		}
	}
}

func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	text := strings.Join(p.found, "\n")
	if p.more > 0 {
		text += fmt.Sprintf("\nand %d more problems", p.more)
	}
	return guidon.Errorf(guidon.InvalidArgument, "%s", text)
}
