package document

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

var asFlag = pointerTo(objectOf(func(f *service.DocumentFlag) []field {
	return []field{
		optional("key", &f.Key, asText),
		optional("name", &f.Name, asText),
		always("type", &f.Type, asFlagType),
		optional("description", &f.Description, asText),
		always("enabled", &f.Enabled, asBoolean),
		always("metadata", &f.Metadata, asMetadata),
		additions(requirements(&f.Requires))[0],
		listOf("variants", &f.Variants, asVariant),
		{name: "rules", value: &rules{items[*service.DocumentRule]{&f.Rules, asRule}, f}},
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
var asMetadata = form[string]{
	read: func(d *decoder, n *node, to *string) {
		switch {
		case n.kind != object:
			d.fail(n, "must be an object, not %s", n.kind)
		case len(n.members) > 0:
			asJSON.read(d, n, to)
		}
	},
	write: func(e *encoder, from *string) *node {
		if *from != "" {
			if n := asJSON.write(e, from); len(n.members) > 0 {
				return n
			}
		}
		return nil
	},
}

// rules are written in the order of their ranks.
type rules struct {
	items[*service.DocumentRule]
	of *service.DocumentFlag
}

func (r *rules) write(e *encoder) *node {
	ranked := r.of.RulesByRank()
	return (&items[*service.DocumentRule]{&ranked, r.as}).write(e)
}

var asVariant = pointerTo(objectOf(func(v *service.DocumentVariant) []field {
	return []field{
		optional("default", &v.Default, asBoolean).and(func(d *decoder, n *node) {
			if v.Default {
				d.require(n, "variant.default", 3)
			}
		}),
		optional("key", &v.Key, asText),
		optional("name", &v.Name, asText),
		optional("description", &v.Description, asText),
		{name: "attachment", value: &attachment{nonzero[string]{single[string]{&v.Attachment, asJSON}}}},
	}
}))

// attachment is any value: null too, unless it is an empty one of YAML.
type attachment struct{ nonzero[string] }

func (a *attachment) read(d *decoder, n *node) {
	if n.kind != null || n.raw != "" {
		asJSON.read(d, n, a.at)
	}
}
