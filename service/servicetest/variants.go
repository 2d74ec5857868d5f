package servicetest

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func (m *model) variantInput(f *guidon.Flag) service.VariantInput {
	return service.VariantInput{
		FlagKey: f.Key, Key: pick(m, []string{"red", "green", "blue", "ключ"}), Name: m.text(), Description: m.text(),
		Attachment: pick(m, []string{"", `{"a":1}`, `[]`}),
	}
}

func (m *model) createVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in := changes, m.variantInput(f)
	if f.VariantByKey(in.Key) != nil {
		v = invalid
	}
	f.Variants = append(f.Variants,
		&guidon.Variant{ID: newID, Key: in.Key, Name: in.Name, Description: in.Description, Attachment: in.Attachment})
	return v, withInput(m.service.CreateVariant, in)
}

func (m *model) updateVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, in, have := changes, m.variantInput(f), pickOr(m, f.Variants, &guidon.Variant{ID: "none"})
	in.ID = have.ID
	switch other := f.VariantByKey(in.Key); {
	case have.ID == "none":
		v = notFound
	case other != nil && other != have:
		v = invalid
	}
	have.Key, have.Name, have.Description, have.Attachment = in.Key, in.Name, in.Description, in.Attachment
	return v, withInput(m.service.UpdateVariant, in)
}

func (m *model) deleteVariant(_ *state, f *guidon.Flag) (verdict, call) {
	v, id := unchanged, pickOr(m, f.Variants, &guidon.Variant{ID: "none"}).ID
	if id != "none" {
		v = changes
	}
	f.Variants = slices.DeleteFunc(f.Variants, func(v *guidon.Variant) bool { return v.ID == id })
	if f.DefaultVariantID == id {
		f.DefaultVariantID = ""
	}
	for _, r := range f.Rules {
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *guidon.Distribution) bool { return d.VariantID == id })
	}
	return v, withItems(m.service.DeleteVariant, f.Key, id)
}
