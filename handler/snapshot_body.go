package handler

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// maxSnapshot bounds the body of a snapshot, in bytes. Segments and attachments
// are repeated wherever they are used, so a body can be far larger than what is
// stored.
const maxSnapshot = 128 << 20

var errSnapshotTooLarge = guidon.Errorf(guidon.TooLarge,
	"the snapshot exceeds %d bytes, because segments or attachments are used so often: evaluate on the server instead", maxSnapshot)

// encodeSnapshot returns the JSON of wireSnapshot without making the message: the
// same state gives the same bytes, on every instance.
func encodeSnapshot(s *guidon.Snapshot, p profile) ([]byte, error) {
	e := snapshotEncoder{profile: p}
	e.prepareSegments(s.Segments())
	e.raw(`{"namespace":{"key":`).text(s.Namespace().Key).raw(`},"flags":[`)
	for i, f := range s.Flags() {
		if e.err != nil {
			return nil, e.err
		}
		e.comma(i).flag(f)
		e.turnPage()
	}
	e.raw(`]}`)
	if e.err != nil {
		return nil, e.err
	}
	return slices.Concat(append(e.pages, e.body)...), nil // without room to spare: it is kept
}

// snapshotEncoder appends to a body. Each segment is encoded once and copied.
type snapshotEncoder struct {
	profile  profile
	segments map[string][]byte
	pages    [][]byte // what comes before body
	paged    int      // bytes in pages
	body     []byte
	err      error // the first one; what has no bound of its own is not appended after it
}

// pageSize is the length from which on the body goes on in a new page.
const pageSize = 64 << 10

// turnPage keeps the body from growing to megabytes step by step, which would
// leave several times as much behind as is needed.
func (e *snapshotEncoder) turnPage() {
	if len(e.body) < pageSize {
		return
	}
	e.pages = append(e.pages, e.body)
	e.paged += len(e.body)
	e.body = make([]byte, 0, pageSize+pageSize/8)
}

func (e *snapshotEncoder) prepareSegments(segments []*guidon.Segment) {
	e.segments = make(map[string][]byte, len(segments))
	for _, g := range segments {
		start := len(e.body)
		e.segment(g)
		e.segments[g.Key] = bytes.Clone(e.body[start:])
		e.body = e.body[:start]
	}
}

func (e *snapshotEncoder) segment(g *guidon.Segment) {
	e.raw(`{"key":`).text(g.Key).raw(`,"name":"","description":"","matchType":`).enum(evaluation.EvaluationSegmentMatchType(g.MatchType))
	e.raw(`,"constraints":[`)
	for i, c := range g.Constraints {
		e.comma(i).raw(`{"id":`).text(c.ID).raw(`,"type":`).enum(e.profile.comparison(c.Type))
		e.raw(`,"property":`).text(c.Property).raw(`,"operator":`).text(c.Operator).raw(`,"value":`).text(c.Value).raw(`}`)
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
		e.rollouts(f.Rollouts)
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
	for _, r := range f.Rules {
		if !e.exist(r.SegmentKeys) {
			continue
		}
		e.comma(n).raw(`{"id":`).text(r.ID).raw(`,"segments":`).attached(r.SegmentKeys).raw(`,"rank":`).integer(r.Rank)
		e.raw(`,"segmentOperator":`).enum(evaluation.EvaluationSegmentOperator(r.SegmentOperator))
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

func (e *snapshotEncoder) rollouts(rollouts []*guidon.Rollout) {
	n := 0
	for _, r := range rollouts {
		if r.Threshold == nil && (r.Segment == nil || !e.exist(r.Segment.SegmentKeys)) {
			continue
		}
		e.comma(n).raw(`{"type":`).enum(evaluation.EvaluationRolloutType(r.Type())).raw(`,"rank":`).integer(r.Rank)
		if t := r.Threshold; t != nil {
			e.raw(`,"threshold":{"percentage":`).float(t.Percentage).raw(`,"value":`).boolean(t.Value)
		} else {
			e.raw(`,"segment":{"value":`).boolean(r.Segment.Value)
			e.raw(`,"segmentOperator":`).enum(evaluation.EvaluationSegmentOperator(r.Segment.SegmentOperator))
			e.raw(`,"segments":`).attached(r.Segment.SegmentKeys)
		}
		e.raw(`}}`)
		n++
	}
}

// exist tells whether there are segments, and all of them exist.
func (e *snapshotEncoder) exist(keys []string) bool {
	for _, key := range keys {
		if e.segments[key] == nil {
			return false
		}
	}
	return len(keys) > 0
}

// attached appends the segments of a rule or rollout.
func (e *snapshotEncoder) attached(keys []string) *snapshotEncoder {
	e.raw(`[`)
	for i, key := range keys {
		e.comma(i)
		if segment := e.segments[key]; e.fits(len(segment)) {
			e.body = append(e.body, segment...)
		}
	}
	return e.raw(`]`)
}

// fits tells whether that many bytes more are within the bound. What takes a few
// bytes only need not ask.
func (e *snapshotEncoder) fits(n int) bool {
	if e.err == nil && e.paged+len(e.body)+n > maxSnapshot {
		e.err = errSnapshotTooLarge
	}
	return e.err == nil
}

func (e *snapshotEncoder) comma(i int) *snapshotEncoder {
	if i > 0 {
		return e.raw(`,`)
	}
	return e
}

func (e *snapshotEncoder) raw(text string) *snapshotEncoder {
	if e.fits(len(text)) {
		e.body = append(e.body, text...)
	}
	return e
}

func (e *snapshotEncoder) text(s string) *snapshotEncoder {
	if e.fits(len(s)) {
		e.body = codec.AppendString(e.body, s)
	}
	return e
}

func (e *snapshotEncoder) boolean(b bool) *snapshotEncoder {
	e.body = strconv.AppendBool(e.body, b)
	return e
}

func (e *snapshotEncoder) integer(n int32) *snapshotEncoder {
	e.body = strconv.AppendInt(e.body, int64(n), 10)
	return e
}

func (e *snapshotEncoder) float(f float32) *snapshotEncoder {
	e.body = codec.AppendFloat(e.body, f)
	return e
}

func (e *snapshotEncoder) enum(number protoreflect.Enum) *snapshotEncoder {
	e.body = codec.AppendEnum(e.body, number)
	return e
}

// instant appends a member that is left out where the time is not set.
func (e *snapshotEncoder) instant(label string, t time.Time) *snapshotEncoder {
	if t.IsZero() {
		return e
	}
	body, err := codec.AppendTime(append(e.body, label...), t)
	if err != nil && e.err == nil {
		e.err = err
	}
	e.body = body
	return e
}
