package handler

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// EvaluationEvent reports the evaluation of one flag for one entity.
type EvaluationEvent struct {
	RequestID   string // as in the log
	Revision    int64  // of the namespace, or 0 if the request is not about exactly one
	Namespace   string
	Flag        string
	EntityID    string // personal data
	Type        string // "variant" or "boolean"; empty for an unknown flag or in a failed batch
	Value       string // the variant's key, or "true" or "false"
	Reason      string // "unknown", "flag_disabled", "match" or "default"
	OFREPReason string // such as "STATIC"; empty if the request is not an OFREP one
	Match       bool
	Split       bool     // decided by the entity's bucket
	SegmentKeys []string // must not be modified
	Err         error
	FlagExists  bool          // known to exist; otherwise the names are whatever the caller sent
	Duration    time.Duration // in a batch of the Flipt v1 interface, an equal share of the whole
}

// The values of EvaluationEvent.Type.
const (
	typeVariant = "variant"
	typeBoolean = "boolean"
)

// evaluated is an evaluation request.
type evaluated interface {
	ofFlag
	GetEntityId() string
}

// events collects the evaluations of a request for the observer. It is nil if there is
// no observer.
type events struct {
	observer  Observer
	requestID string
	revision  int64
	list      []EvaluationEvent
	held      bool // report nothing until end, because the request may still fail
}

// maxEvents is how many events are reported to the observer in one call, unless they
// are held.
const maxEvents = 64

var eventsPool = sync.Pool{New: func() any { return &events{list: make([]EvaluationEvent, 0, maxEvents)} }}

// newEvents returns an empty collection for the call, which reads the state, from the
// pool; end returns it there.
func (h *Handler) newEvents(c *call, state service.State) *events {
	if h.config.Observer == nil {
		return nil
	}
	e := eventsPool.Get().(*events)
	e.observer, e.requestID, e.revision = h.config.Observer, c.caller.RequestID, state.Revision
	return e
}

// end reports the remaining events.
func (e *events) end() {
	if e == nil {
		return
	}
	e.report()
	if cap(e.list) > maxEvents {
		return // grown while held: too large for the pool
	}
	e.observer, e.held = nil, false
	eventsPool.Put(e)
}

// hold keeps all events until end, so that discard can still change them.
func (e *events) hold() {
	if e != nil {
		e.held = true
	}
}

// discard replaces the results of all unreported evaluations by err, because the caller
// gets none of them.
func (e *events) discard(err error) {
	if e == nil {
		return
	}
	for i := range e.list {
		of := &e.list[i]
		*of = EvaluationEvent{
			RequestID: of.RequestID, Revision: of.Revision, Namespace: of.Namespace, Flag: of.Flag, EntityID: of.EntityID,
			Type: of.Type, Err: err, FlagExists: of.FlagExists, Duration: of.Duration,
		}
	}
}

func (e *events) report() {
	if len(e.list) > 0 {
		e.observer.Evaluated(e.list)
		e.list = slices.Delete(e.list, 0, len(e.list))
	}
}

// variant adds an evaluation of a variant flag.
func (e *events) variant(m evaluated, r *guidon.VariantResult, err error, duration time.Duration) {
	if e == nil {
		return
	}
	last := e.add(m, typeVariant, err, duration)
	if err == nil {
		last.Value, last.Reason, last.Match, last.SegmentKeys = r.VariantKey, reasonName(r.Reason), r.Match, r.SegmentKeys
		last.Split = r.Match && r.Bucketed
	}
}

// boolean adds an evaluation of a boolean flag.
func (e *events) boolean(m evaluated, r *guidon.BooleanResult, err error, duration time.Duration) {
	if e == nil {
		return
	}
	last := e.add(m, typeBoolean, err, duration)
	if err == nil {
		last.Value, last.Reason, last.SegmentKeys = strconv.FormatBool(r.Enabled), reasonName(r.Reason), r.SegmentKeys
		last.Match = r.Reason == guidon.ReasonMatch
		last.Split = last.Match && r.Bucketed && r.SegmentKeys == nil
	}
}

// unknown adds an evaluation of a flag of unknown type.
func (e *events) unknown(m evaluated, err error, duration time.Duration) {
	if e != nil {
		e.add(m, "", err, duration)
	}
}

// add appends an event without a result and returns it.
func (e *events) add(m evaluated, kind string, err error, duration time.Duration) *EvaluationEvent {
	if len(e.list) == maxEvents && !e.held {
		e.report()
	}
	e.list = append(e.list, EvaluationEvent{})
	last := &e.list[len(e.list)-1]
	last.RequestID, last.Revision, last.EntityID = e.requestID, e.revision, m.GetEntityId()
	last.Namespace, last.Flag, last.Type, last.Duration = namespaceOf(m), m.GetFlagKey(), kind, duration
	last.Err, last.FlagExists = err, err == nil || errors.Is(err, guidon.InvalidArgument)
	return last
}

func (h *Handler) observeVariant(c *call, state service.State, m evaluated, r *guidon.VariantResult, err error, duration time.Duration) {
	events := h.newEvents(c, state)
	events.variant(m, r, err, duration)
	events.end()
}

func (h *Handler) observeBoolean(c *call, state service.State, m evaluated, r *guidon.BooleanResult, err error, duration time.Duration) {
	events := h.newEvents(c, state)
	events.boolean(m, r, err, duration)
	events.end()
}

// observeBatch reports the evaluations of a batch that ended with err. It reports none
// for a request that was rejected before anything was evaluated.
func observeBatch[M evaluated](h *Handler, c *call, state service.State, items []M, results []service.Evaluation, err error, whole time.Duration) {
	failure, failed := errors.AsType[*service.BatchItemError](err)
	if err != nil && !failed {
		return
	}
	events := h.newEvents(c, state)
	if events == nil {
		return
	}
	duration := whole / time.Duration(max(len(items), 1))
	for i, m := range items {
		if failed {
			events.unknown(m, errorOfItem(failure, i), duration)
			continue
		}
		switch r := results[i]; {
		case r.Variant != nil:
			events.variant(m, r.Variant, nil, duration)
		case r.Boolean != nil:
			events.boolean(m, r.Boolean, nil, duration)
		default:
			events.unknown(m, errUnknownFlag, duration)
		}
	}
	events.end()
}

// errorOfItem returns the error to report for the i-th evaluation of a failed batch.
func errorOfItem(failure *service.BatchItemError, i int) error {
	if i == failure.Index {
		return failure.Err
	}
	return errDiscarded
}

// errDiscarded is the error of an evaluation whose batch failed because of another one.
var errDiscarded = guidon.Errorf(guidon.Canceled, "another evaluation of the batch failed")

// errUnknownFlag is reported for an unknown flag in a batch that succeeds.
var errUnknownFlag = guidon.Errorf(guidon.NotFound, "flag not found")

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
