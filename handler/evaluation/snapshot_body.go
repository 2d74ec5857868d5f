package evaluation

import (
	"bytes"
	"io"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// maxSnapshot limits the body of a snapshot, in bytes. Segments and attachments are
// repeated wherever they are used, so a body can be far larger than the stored data.
const maxSnapshot = 128 << 20

var errSnapshotTooLarge = guidon.Errorf(guidon.TooLarge,
	"the snapshot exceeds %d bytes, because segments or attachments are repeated wherever they are used; evaluate on the server instead",
	maxSnapshot)

// writeSnapshot writes the JSON of wireSnapshot in pieces, without building the message.
// The same state gives the same bytes on every instance. It returns the number of bytes,
// or errSnapshotTooLarge.
func writeSnapshot(out io.Writer, s *guidon.Snapshot, p profile) (int, error) {
	e := snapshotEncoder{profile: p, snapshot: s, out: codec.NewWriter(out)}
	e.prepareSegments(s.Segments())
	e.raw(`{"namespace":{"key":`).text(s.Namespace().Key).raw(`},"flags":[`)
	flags := clientFlags.Of(s)
	for i, f := range flags.sent {
		e.comma(i).flag(f)
		if e.out.Err() != nil || e.full {
			break
		}
	}
	e.raw(`]`).omitted(flags.omitted).raw(`}`)
	if e.full {
		return 0, errSnapshotTooLarge
	}
	err := e.out.Flush()
	return e.out.Len(), err
}

// omitted writes the member with the flags that are left out, if there are any.
func (e *snapshotEncoder) omitted(flags []*evaluation.OmittedFlag) *snapshotEncoder {
	for i, f := range flags {
		if i == 0 {
			e.raw(`,"omittedFlags":[`)
		}
		e.comma(i).raw(`{"key":`).text(f.GetKey()).raw(`,"reason":`).text(f.GetReason()).raw(`}`)
	}
	if len(flags) > 0 {
		e.raw(`]`)
	}
	return e
}

type snapshotEncoder struct {
	profile  profile
	snapshot *guidon.Snapshot
	segments map[string][]byte // the JSON of small segments, by key
	out      *codec.Writer
	full     bool // the limit was reached, and nothing more is written
}

// Segments are repeated wherever they are used. A small one is encoded once and
// copied.
const (
	maxPreparedSegment  = 4 << 10
	maxPreparedSegments = 1 << 20 // together
)

func (e *snapshotEncoder) prepareSegments(segments []*guidon.Segment) {
	e.segments = make(map[string][]byte)
	weigh := convert.Weight[guidon.Segment]()
	out, left := e.out, maxPreparedSegments
	for _, g := range segments {
		if weigh(g) > min(left, maxPreparedSegment) {
			continue
		}
		var body bytes.Buffer
		e.out = codec.NewWriter(&body)
		e.segment(g)
		_ = e.out.Flush() // a bytes.Buffer never fails
		e.segments[g.Key] = body.Bytes()
		left -= body.Len()
	}
	e.out = out
}

func (e *snapshotEncoder) segment(g *guidon.Segment) {
	e.raw(`{"key":`).text(g.Key).raw(`,"name":"","description":"","matchType":`).enum(evaluation.EvaluationSegmentMatchType(g.MatchType))
	e.raw(`,"constraints":[`)
	for i, c := range g.Constraints {
		e.comma(i).raw(`{"id":`).text(c.ID).raw(`,"type":`).enum(e.profile.comparison(c.Type))
		e.raw(`,"property":`).text(c.Property).raw(`,"operator":`).text(c.Operator).raw(`,"value":`).text(analysis.ClientValue(c)).raw(`}`)
	}
	e.raw(`]}`)
}

func (e *snapshotEncoder) flag(f *guidon.Flag) {
	e.raw(`{"key":`).text(f.Key).raw(`,"name":`).text(f.Name).raw(`,"description":`).text(f.Description)
	e.raw(`,"enabled":`).boolean(f.Enabled).raw(`,"type":`).enum(evaluation.EvaluationFlagType(f.Type))
	e.instant(`,"createdAt":`, f.CreatedAt).instant(`,"updatedAt":`, f.UpdatedAt)
	e.raw(`,"rules":[`)
	if f.Type == guidon.VariantFlag {
		e.rules(f)
	}
	e.raw(`],"rollouts":[`)
	if f.Type == guidon.BooleanFlag {
		e.rollouts(f)
	}
	e.raw(`]`)
	if v := f.DefaultVariant(); v != nil && f.Type == guidon.VariantFlag && e.profile >= complete {
		e.raw(`,"defaultVariant":{"id":`).text(v.ID).raw(`,"key":`).text(v.Key).raw(`,"attachment":`).text(v.Attachment).raw(`}`)
	}
	e.raw(`}`)
}

func (e *snapshotEncoder) rules(f *guidon.Flag) {
	variants := variantsByID(f)
	n := 0
	for i, step := range e.snapshot.Compiled(f.Key).Steps() {
		r := f.Rules[i]
		t := clientTargetOf(step.Audience, r.SegmentOperator)
		e.comma(n).raw(`{"id":`).text(r.ID).raw(`,"segments":`).attached(t.segments).raw(`,"rank":`).integer(r.Rank)
		e.raw(`,"segmentOperator":`).enum(evaluation.EvaluationSegmentOperator(t.operator))
		e.raw(`,"distributions":[`).distributions(r.Distributions, variants)
		e.raw(`]}`)
		n++
	}
}

func (e *snapshotEncoder) distributions(distributions []*guidon.Distribution, variants map[string]*guidon.Variant) {
	n := 0
	for _, d := range distributions {
		v := variants[d.VariantID]
		if v == nil {
			continue
		}
		e.comma(n).raw(`{"id":"","ruleId":"","variantId":`).text(v.ID).raw(`,"variantKey":`).text(v.Key)
		e.raw(`,"variantAttachment":`).text(v.Attachment).raw(`,"rollout":`).float(d.Rollout).raw(`}`)
		n++
	}
}

func (e *snapshotEncoder) rollouts(f *guidon.Flag) {
	n := 0
	compiled := e.snapshot.Compiled(f.Key)
	for i, step := range compiled.Steps() {
		r := f.Rollouts[i]
		e.comma(n).raw(`{"type":`).enum(evaluation.EvaluationRolloutType(r.Type())).raw(`,"rank":`).integer(r.Rank)
		if t := r.Threshold; t != nil {
			e.raw(`,"threshold":{"percentage":`).float(compiled.Threshold(i).Percentage).raw(`,"value":`).boolean(t.Value)
		} else {
			target := clientTargetOf(step.Audience, r.Segment.SegmentOperator)
			e.raw(`,"segment":{"value":`).boolean(r.Segment.Value)
			e.raw(`,"segmentOperator":`).enum(evaluation.EvaluationSegmentOperator(target.operator))
			e.raw(`,"segments":`).attached(target.segments)
		}
		e.raw(`}}`)
		n++
	}
}

// attached writes the segments of a rule or rollout.
func (e *snapshotEncoder) attached(segments []*guidon.Segment) *snapshotEncoder {
	e.raw(`[`)
	for i, g := range segments {
		e.comma(i)
		if segment, ok := e.segments[g.Key]; !ok {
			e.segment(g)
		} else if e.fits(len(segment)) {
			e.out.RawBytes(segment)
		}
	}
	return e.raw(`]`)
}

// fits reports whether n more bytes are within the limit. Short values are written
// without this check.
func (e *snapshotEncoder) fits(n int) bool {
	e.full = e.full || e.out.Len()+n > maxSnapshot
	return !e.full
}

func (e *snapshotEncoder) comma(i int) *snapshotEncoder {
	if i > 0 {
		return e.raw(`,`)
	}
	return e
}

func (e *snapshotEncoder) raw(text string) *snapshotEncoder {
	if e.fits(len(text)) {
		e.out.Raw(text)
	}
	return e
}

func (e *snapshotEncoder) text(s string) *snapshotEncoder {
	if e.fits(len(s)) {
		e.out.Text(s)
	}
	return e
}

func (e *snapshotEncoder) boolean(b bool) *snapshotEncoder {
	e.out.Bool(b)
	return e
}

func (e *snapshotEncoder) integer(n int32) *snapshotEncoder {
	e.out.Int(int64(n))
	return e
}

func (e *snapshotEncoder) float(f float32) *snapshotEncoder {
	e.out.Float(f)
	return e
}

func (e *snapshotEncoder) enum(number protoreflect.Enum) *snapshotEncoder {
	e.out.Enum(number)
	return e
}

// instant writes a member, or nothing if the time is not set.
func (e *snapshotEncoder) instant(label string, t time.Time) *snapshotEncoder {
	if !t.IsZero() {
		e.raw(label).out.Time(t)
	}
	return e
}
