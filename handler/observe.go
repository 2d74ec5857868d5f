package handler

import (
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
)

// EvaluationEvent is one flag evaluated for one entity. It says nothing of the
// entity.
type EvaluationEvent struct {
	Namespace   string
	Flag        string
	Type        string // "variant" or "boolean", nothing for an unknown flag of a batch
	Value       string // the variant's key, or "true" or "false"
	Reason      string // "unknown", "flag_disabled", "match" or "default"
	Match       bool
	SegmentKeys []string // not to be changed
	Err         error
	FlagExists  bool          // known to exist: otherwise the names are whatever the caller sent
	Duration    time.Duration // in a batch of the Flipt v1 interface, an equal share of the whole
}

// The types of evaluations.
const (
	typeVariant = "variant"
	typeBoolean = "boolean"
)

func (h *Handler) observeVariant(m ofFlag, r *guidon.VariantResult, err error, duration time.Duration) {
	if h.config.Observer == nil {
		return
	}
	events := newEvents()
	e := events.add(m, typeVariant, err, duration)
	if err == nil {
		e.setVariant(r)
	}
	events.tell(h.config.Observer)
}

func (h *Handler) observeBoolean(m ofFlag, r *guidon.BooleanResult, err error, duration time.Duration) {
	if h.config.Observer == nil {
		return
	}
	events := newEvents()
	e := events.add(m, typeBoolean, err, duration)
	if err == nil {
		e.setBoolean(r)
	}
	events.tell(h.config.Observer)
}

// observeUnknown tells about an evaluation of nobody knows which type.
func (h *Handler) observeUnknown(m ofFlag, err error, duration time.Duration) {
	if h.config.Observer == nil {
		return
	}
	events := newEvents()
	events.add(m, "", err, duration)
	events.tell(h.config.Observer)
}

// observeBatch tells about the answers of a batch.
func observeBatch[M ofFlag](h *Handler, items []M, results []guidon.Evaluation, whole time.Duration) {
	if h.config.Observer == nil || len(items) == 0 {
		return
	}
	duration := whole / time.Duration(len(items))
	events := newEvents()
	for i, m := range items {
		switch r := results[i]; {
		case r.Variant != nil:
			events.add(m, typeVariant, nil, duration).setVariant(r.Variant)
		case r.Boolean != nil:
			events.add(m, typeBoolean, nil, duration).setBoolean(r.Boolean)
		default:
			events.add(m, "", errUnknownFlag, duration)
		}
	}
	events.tell(h.config.Observer)
}

// errUnknownFlag is the error of an evaluation in a batch that is otherwise fine.
var errUnknownFlag = guidon.Errorf(guidon.NotFound, "flag not found")

// events are what an observer is told at once.
type events struct{ list []EvaluationEvent }

var eventsPool = sync.Pool{New: func() any { return new(events) }}

// newEvents returns none yet, in memory that is used again.
func newEvents() *events { return eventsPool.Get().(*events) }

// add returns one more event, without a result.
func (e *events) add(m ofFlag, kind string, err error, duration time.Duration) *EvaluationEvent {
	e.list = append(e.list, EvaluationEvent{})
	last := &e.list[len(e.list)-1]
	last.Namespace, last.Flag, last.Type, last.Duration = namespaceOf(m), m.GetFlagKey(), kind, duration
	last.Err, last.FlagExists = err, err == nil || errors.Is(err, guidon.InvalidArgument)
	return last
}

// tell tells the observer. The events are gone after that.
func (e *events) tell(observer Observer) {
	observer.Evaluated(e.list)
	e.list = emptied(e.list)
	eventsPool.Put(e)
}

func (e *EvaluationEvent) setVariant(r *guidon.VariantResult) {
	e.Value, e.Reason, e.Match, e.SegmentKeys = r.VariantKey, reasonName(r.Reason), r.Match, r.SegmentKeys
}

func (e *EvaluationEvent) setBoolean(r *guidon.BooleanResult) {
	e.Value, e.Reason, e.SegmentKeys = strconv.FormatBool(r.Enabled), reasonName(r.Reason), r.SegmentKeys
	e.Match = r.Reason == guidon.ReasonMatch
}

func reasonName(r guidon.Reason) string {
	switch r {
	case guidon.ReasonFlagDisabled:
		return "flag_disabled"
	case guidon.ReasonMatch:
		return "match"
	case guidon.ReasonDefault:
		return "default"
	}
	return "unknown"
}
