package document

import (
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

var asRule = pointerTo(form[guidon.Rule]{
	read: func(d *decoder, n *node, r *guidon.Rule) {
		r.Conditions = &guidon.Conditions{}
		d.object(n, ruleFields(r))
		r.Conditions = r.Conditions.OrNil()
	},
	write: objectOf(ruleFields).write,
})

func ruleFields(r *guidon.Rule) []field {
	split := optional("split", &r.Split, asSplit).and(func(*decoder, *node) {
		if r.Split != nil && *r.Split == (guidon.Split{}) {
			r.Split = nil
		}
	})
	return slices.Concat(
		[]field{always("segment", r, asRuleSegment)},
		conditions(r.Stated()),
		additions(split, optional("code_default", &r.CodeDefault, asBoolean)),
		[]field{
			listOf("distributions", &r.Distributions, asDistribution),
			always("rank", &r.Rank, asRank),
		},
	)
}

var asDistribution = pointerTo(objectOf(func(d *guidon.Distribution) []field {
	return []field{optional("variant", &d.VariantID, asText), always("rollout", &d.Rollout, asPercentage)}
}))

var asSplit = pointerTo(objectOf(splitFields))

// asRuleSegment is the form of the segments of a rule: a key, or several with an operator.
var asRuleSegment = form[guidon.Rule]{
	read: func(d *decoder, n *node, r *guidon.Rule) {
		if n.kind == object {
			d.object(n, segmentsFields(r))
		} else {
			var key string
			if asText.read(d, n, &key); key != "" {
				r.SegmentKeys = []string{key}
			}
		}
		r.SegmentOperator = change.OperatorFor(r.SegmentKeys, r.SegmentOperator)
	},
	write: func(e *encoder, r *guidon.Rule) *node {
		switch len(r.SegmentKeys) {
		case 0:
			return nil
		case 1:
			return textNode(r.SegmentKeys[0])
		}
		return e.object(segmentsFields(r))
	},
}

func segmentsFields(r *guidon.Rule) []field {
	return []field{
		listOf("keys", &r.SegmentKeys, asText),
		always("operator", &r.SegmentOperator, asEnum[guidon.SegmentOperator]()),
	}
}
