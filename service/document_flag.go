package service

import (
	"cmp"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// normalFlag checks a flag of a document and returns its normal form, in which its content is
// stored and exported: attachments compacted, values normalized, rules sorted by rank, no
// empty slices.
func normalFlag(f *guidon.Flag, p *problems, segments map[string]bool) *guidon.Flag {
	p.add(checkNewKey(f.Key, f.Name))
	p.add(checkTexts(field{"name", f.Name}, field{"description", f.Description}))
	p.add(checkEnum("type", f.Type))
	out := *f // with every field that has no other normal form
	var err error
	out.Metadata, err = checkMetadata(f.Metadata)
	p.add(err)
	out.Requires, err = checkRequirements(f.Requires)
	p.add(err)
	out.Variants = normalVariants(f, p)
	out.Rules = normalRules(f, p, segments)
	out.Rollouts = nil
	for i, r := range f.Rollouts {
		p.entry("rollouts", i, func(p *problems) {
			out.Rollouts = append(out.Rollouts, normalRollout(r, p, segments))
		})
	}
	return &out
}

func normalVariants(f *guidon.Flag, p *problems) (out []*guidon.Variant) {
	seen := map[string]bool{}
	for i, v := range f.Variants {
		p.item("variants", i, v.Key, func(p *problems) {
			p.checkUnique(seen, "variant", v.Key)
			p.add(requireAll(field{"key", v.Key}))
			p.add(checkTexts(field{"key", v.Key}, field{"name", v.Name}, field{"description", v.Description}))
			variant := *v
			var err error
			variant.Attachment, err = VariantInput{Name: v.Name, Attachment: v.Attachment}.check()
			p.add(err)
			out = append(out, &variant)
		})
	}
	return out
}

// byKeys returns a copy of the flag that refers to variants by their keys, and to none that do
// not exist.
func byKeys(f *guidon.Flag) *guidon.Flag {
	out := change.Clone(f)
	if out.DefaultVariantID = ""; f.DefaultVariant() != nil {
		out.DefaultVariantID = f.DefaultVariant().Key
	}
	for _, r := range out.Rules {
		all := r.Distributions
		r.Distributions = nil
		for _, d := range all {
			if v := f.Variant(d.VariantID); v != nil {
				d.VariantID = v.Key
				r.Distributions = append(r.Distributions, d)
			}
		}
	}
	return out
}

// NewDocumentFlag returns the flag in the form of a document. Its rules have no ranks but
// are in the order of their ranks.
func NewDocumentFlag(f *guidon.Flag) *guidon.Flag {
	out := byKeys(f)
	out.Created, out.Unreadable = guidon.Position{}, nil
	for _, v := range out.Variants {
		v.ID = ""
	}
	for _, r := range out.Rules {
		r.ID, r.Rank = "", 0
		for _, d := range r.Distributions {
			d.ID = ""
		}
	}
	for _, r := range out.Rollouts {
		r.ID, r.Rank = "", 0
	}
	for _, at := range FlagTimes(out) {
		*at = time.Time{}
	}
	return out
}

// mergeFlag returns a copy of have, or a new flag if that is nil, with the content of want,
// which is in the form of a document.
func mergeFlag(have, want *guidon.Flag, now time.Time) *guidon.Flag {
	have = cmp.Or(have, &guidon.Flag{CreatedAt: now})
	old, out := byKeys(have), *want
	out.Created, out.CreatedAt, out.UpdatedAt = have.Created, have.CreatedAt, now
	out.Requires = guidon.CloneRequirements(want.Requires)
	if change.SameJSON(string(have.Metadata), string(want.Metadata)) {
		out.Metadata = have.Metadata
	}
	variants := copies(want.Variants)
	for _, v := range variants {
		if was := have.VariantByKey(v.Key); was != nil && change.SameJSON(was.Attachment, v.Attachment) {
			v.Attachment = was.Attachment
		}
	}
	out.Variants, _ = variantParts.continued(variants, old.Variants, now)
	out.Rollouts, _ = rolloutParts.continued(want.Rollouts, old.Rollouts, now)
	var were []*guidon.Rule
	out.Rules, were = ruleParts.continued(want.Rules, old.Rules, now)
	for i, r := range out.Rules {
		r.Distributions, _ = distributionParts.continued(r.Distributions, were[i].Distributions, now)
	}
	referByID(&out)
	return &out
}

// referByID replaces the keys of variants by their ids.
func referByID(f *guidon.Flag) {
	ids := map[string]string{}
	for _, v := range f.Variants {
		ids[v.Key] = v.ID
	}
	f.DefaultVariantID = ids[f.DefaultVariantID]
	for _, r := range f.Rules {
		for _, d := range r.Distributions {
			d.VariantID = ids[d.VariantID]
		}
	}
}

// sameFlag reports whether the flag matches the one of a document. Ranks are compared only if
// the document sets them; otherwise the order of the rules decides.
func sameFlag(have, want *guidon.Flag) bool {
	sameRank := func(a, b *guidon.Rule) bool { return b.Rank == 0 || a.Rank == b.Rank }
	return change.Same(have, want) && slices.EqualFunc(have.Rules, want.Rules, sameRank)
}
