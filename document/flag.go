package document

import (
	"encoding/json"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

var asFlag = pointerTo(objectOf(func(f *guidon.Flag) []field {
	return []field{
		optional("key", &f.Key, asText),
		optional("name", &f.Name, asText),
		always("type", &f.Type, asFlagType),
		optional("description", &f.Description, asText),
		always("enabled", &f.Enabled, asBoolean),
		always("metadata", &f.Metadata, asMetadata),
		additions(requirements(&f.Requires))[0],
		listOf("variants", &f.Variants, asVariantOf(f)),
		{name: "rules", value: &rules{items[*guidon.Rule]{&f.Rules, asRule}}},
		listOf("rollouts", &f.Rollouts, asRollout),
	}
}))

var asFlagType = form[guidon.FlagType]{
	read: func(d *decoder, n *node, to *guidon.FlagType) {
		d.require(n, "flag.type", 1)
		asEnum[guidon.FlagType]().read(d, n, to)
	},
	write: asEnum[guidon.FlagType]().write,
}

// asMetadata is the form of an object. An empty object means no metadata.
var asMetadata = form[json.RawMessage]{
	read: func(d *decoder, n *node, to *json.RawMessage) {
		switch {
		case n.kind != object:
			d.fail(n, "must be an object, not %s", n.kind)
		case len(n.members) > 0:
			var text string
			asJSON.read(d, n, &text)
			*to = json.RawMessage(text)
		}
	},
	write: func(e *encoder, from *json.RawMessage) *node {
		if len(*from) > 0 {
			if n := asJSON.write(e, new(string(*from))); len(n.members) > 0 {
				return n
			}
		}
		return nil
	},
}

// rules are written in the order of their ranks.
type rules struct{ items[*guidon.Rule] }

func (r *rules) write(e *encoder) *node {
	ranked := service.RulesByRank(*r.at)
	return (&items[*guidon.Rule]{&ranked, r.as}).write(e)
}

// asVariantOf returns the form of the variants of the flag. The last one that says so is the
// default.
func asVariantOf(f *guidon.Flag) form[*guidon.Variant] {
	return pointerTo(form[guidon.Variant]{
		read: func(d *decoder, n *node, v *guidon.Variant) {
			var isDefault bool
			if d.object(n, variantFields(v, &isDefault)); isDefault {
				f.DefaultVariantID = v.Key
			}
		},
		write: func(e *encoder, v *guidon.Variant) *node {
			isDefault := v.Key != "" && v.Key == f.DefaultVariantID
			return e.object(variantFields(v, &isDefault))
		},
	})
}

func variantFields(v *guidon.Variant, isDefault *bool) []field {
	return []field{
		optional("default", isDefault, asBoolean).and(func(d *decoder, n *node) {
			if *isDefault {
				d.require(n, "variant.default", 3)
			}
		}),
		optional("key", &v.Key, asText),
		optional("name", &v.Name, asText),
		optional("description", &v.Description, asText),
		{name: "attachment", value: &attachment{nonzero[string]{single[string]{&v.Attachment, asJSON}}}},
	}
}

// attachment is any value: null too, unless it is an empty one of YAML.
type attachment struct{ nonzero[string] }

func (a *attachment) read(d *decoder, n *node) {
	if n.kind != null || n.raw != "" {
		asJSON.read(d, n, a.at)
	}
}
