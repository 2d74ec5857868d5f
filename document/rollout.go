package document

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

var asRollout = pointerTo(form[guidon.Rollout]{
	read: func(d *decoder, n *node, r *guidon.Rollout) {
		d.require(n, "flag.rollouts", 1)
		r.Conditions = &guidon.Conditions{}
		d.object(n, rolloutFields(r))
		r.Conditions = r.Conditions.OrNil()
	},
	write: objectOf(rolloutFields).write,
})

func rolloutFields(r *guidon.Rollout) []field {
	return append([]field{
		optional("description", &r.Description, asText),
		optional("segment", &r.Segment, asRolloutSegment),
		optional("threshold", &r.Threshold, asThreshold),
	}, conditions(r.Stated())...)
}

var asThreshold = pointerTo(form[guidon.RolloutThreshold]{
	read: func(d *decoder, n *node, t *guidon.RolloutThreshold) {
		t.Split = &guidon.Split{}
		if d.object(n, thresholdFields(t)); *t.Split == (guidon.Split{}) {
			t.Split = nil
		}
	},
	write: objectOf(thresholdFields).write,
})

func thresholdFields(t *guidon.RolloutThreshold) []field {
	return slices.Concat([]field{
		always("percentage", &t.Percentage, asPercentage),
		optional("value", &t.Value, asBoolean),
	}, additions(shareFields(&t.Start, cmp.Or(t.Split, &guidon.Split{}), &t.Ramp)...))
}

// asRolloutSegment is the form of the segments of a rollout. A single key has a field of its own.
var asRolloutSegment = pointerTo(form[guidon.RolloutSegment]{
	read: func(d *decoder, n *node, s *guidon.RolloutSegment) {
		var key string
		d.object(n, rolloutSegmentFields(s, &key))
		switch {
		case key == "":
		case len(s.SegmentKeys) > 0:
			d.fail(n, "invalid field key or keys: only one can be present")
		default:
			s.SegmentKeys = []string{key}
		}
		s.SegmentOperator = change.OperatorFor(s.SegmentKeys, s.SegmentOperator)
	},
	write: func(e *encoder, from *guidon.RolloutSegment) *node {
		s, key := *from, ""
		if len(s.SegmentKeys) == 1 {
			key, s.SegmentKeys = s.SegmentKeys[0], nil
		}
		return e.object(rolloutSegmentFields(&s, &key))
	},
})

func rolloutSegmentFields(s *guidon.RolloutSegment, key *string) []field {
	return []field{
		optional("key", key, asText),
		listOf("keys", &s.SegmentKeys, asText).and(func(d *decoder, n *node) {
			if len(s.SegmentKeys) > 0 {
				d.require(n, "flag.rollouts.segment.keys", 2)
			}
		}),
		optional("operator", &s.SegmentOperator, asEnum[guidon.SegmentOperator]()),
		optional("value", &s.Value, asBoolean),
	}
}
