package service

import (
	"cmp"
	"encoding/json"
	"reflect"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// DocumentFlag is a flag with its variants, rules and rollouts.
type DocumentFlag struct {
	Key         string
	Name        string
	Type        guidon.FlagType
	Description string
	Enabled     bool
	Metadata    string // a JSON object, or empty
	Variants    []*DocumentVariant
	Rules       []*DocumentRule
	Rollouts    []*DocumentRollout // in rank order
	Requires    []guidon.Requirement
}

// DocumentVariant is a variant of a flag.
type DocumentVariant struct {
	Default     bool // the last variant with Default set is the flag's default
	Key         string
	Name        string
	Description string
	Attachment  string // JSON, or empty
}

// normalize checks the flag and returns its normal form, in which its content is stored
// and exported: attachments compacted, values normalized, rules sorted by rank, at most
// one default variant, no empty slices.
func (f *DocumentFlag) normalize(p *problems, segments map[string]bool) *DocumentFlag {
	p.add(checkNewKey(f.Key, f.Name))
	p.add(checkTexts(field{"name", f.Name}, field{"description", f.Description}))
	p.add(checkEnum("type", f.Type))
	metadata, err := checkMetadata(json.RawMessage(f.Metadata))
	p.add(err)
	out := *f // with every field that has no other normal form
	out.Metadata, out.Rollouts = string(metadata), nil
	out.Requires, err = checkRequirements(f.Requires)
	p.add(err)
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
	return &out
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
			variant := *v
			variant.Attachment = attachment
			if v.Default {
				if last != nil {
					last.Default = false
				}
				last = &variant
			}
			out = append(out, &variant)
		})
	}
	return out
}

// outline returns the flag with the variants, with what refers to segments and other flags, and with what
// Flipt or a release without additions does not know. It may be invalid.
func (f *DocumentFlag) outline() *guidon.Flag {
	out := &guidon.Flag{Key: f.Key, Type: f.Type, Requires: f.Requires}
	for _, v := range f.Variants {
		if v != nil {
			out.Variants = append(out.Variants, &guidon.Variant{Key: v.Key})
		}
	}
	for _, r := range f.Rules {
		r = cmp.Or(r, &DocumentRule{})
		out.Rules = append(out.Rules, &guidon.Rule{
			SegmentKeys: r.SegmentKeys, Split: r.Split, CodeDefault: r.CodeDefault, Conditions: r.Conditions,
		})
	}
	for _, r := range f.Rollouts {
		r = cmp.Or(r, &DocumentRollout{})
		out.Rollouts = append(out.Rollouts, &guidon.Rollout{Segment: r.Segment, Threshold: r.Threshold, Conditions: r.Conditions})
	}
	return out
}

// NewDocumentFlag returns the flag in the form of a document. Its rules have no ranks but
// are in the order of their ranks.
func NewDocumentFlag(f *guidon.Flag) *DocumentFlag {
	d := &DocumentFlag{
		Key: f.Key, Name: f.Name, Type: f.Type, Description: f.Description,
		Enabled: f.Enabled, Metadata: string(f.Metadata), Requires: guidon.CloneRequirements(f.Requires),
	}
	for _, v := range f.Variants {
		d.Variants = append(d.Variants, &DocumentVariant{
			Default: v.ID == f.DefaultVariantID, Key: v.Key, Name: v.Name,
			Description: v.Description, Attachment: v.Attachment,
		})
	}
	for _, r := range f.Rules {
		d.Rules = append(d.Rules, documentRule(f, r))
	}
	for _, r := range f.Rollouts {
		d.Rollouts = append(d.Rollouts, documentRollout(r))
	}
	return d
}

// mergeFlag returns a copy of have, or a new flag if that is nil, with the content of want.
func mergeFlag(have *guidon.Flag, want *DocumentFlag, now time.Time) *guidon.Flag {
	have = cmp.Or(have, &guidon.Flag{CreatedAt: now})
	out := *have
	out.Key, out.Name, out.Description = want.Key, want.Name, want.Description
	out.Type, out.Enabled, out.UpdatedAt = want.Type, want.Enabled, now
	out.Requires = guidon.CloneRequirements(want.Requires)
	if !change.SameJSON(string(have.Metadata), want.Metadata) {
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
	if !change.SameJSON(have.Attachment, want.Attachment) {
		out.Attachment = want.Attachment
	}
	if out != *have {
		out.UpdatedAt = now
	}
	return &out
}

// sameFlag reports whether the flag matches the document. Ranks are compared only if
// the document sets them; otherwise the order of the rules decides.
func sameFlag(have *guidon.Flag, want *DocumentFlag) bool {
	documented := NewDocumentFlag(have)
	if !change.SameJSON(documented.Metadata, want.Metadata) || len(documented.Variants) != len(want.Variants) ||
		len(documented.Rules) != len(want.Rules) {
		return false
	}
	documented.Metadata = want.Metadata
	for i, v := range documented.Variants {
		if w := want.Variants[i]; change.SameJSON(v.Attachment, w.Attachment) {
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
