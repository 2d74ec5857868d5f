package evaluation

import (
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/service"
)

// Event reports the evaluation of one flag for one entity.
type Event struct {
	RequestID   string    // as in the log
	Span        call.Span // of the operation, or nil if it is not traced
	Revision    int64     // of the namespace, or 0 if the request is not about exactly one
	Namespace   string
	Flag        string
	EntityID    string // personal data
	Type        string // "variant" or "boolean"; empty for an unknown flag or in a failed batch
	Value       string // the variant's key, or "true" or "false"
	Reason      string // "unknown", "flag_disabled", "match" or "default"
	OFREPReason string // such as "STATIC"; empty if the request is not an OFREP one
	Match       bool
	Split       bool     // decided by a share
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

// Evaluated is an evaluation request.
type Evaluated interface {
	convert.OfFlag
	GetEntityId() string
}

// Observer is notified of evaluations, and of snapshots for those by clients. It is called
// concurrently, while the request runs, and must not block.
type Observer interface {
	// Evaluated is called with the evaluations of a request, in one or several calls.
	// The slice is valid until it returns. A flag or namespace need not exist; see
	// [EvaluationEvent.FlagExists].
	Evaluated([]Event)
	// SnapshotRequested is called when a client requests the snapshot of a namespace, also if
	// it has that already, with how many flags it leaves out because clients would evaluate
	// them differently.
	SnapshotRequested(namespace string, omitted int)
}

// Events collects the evaluations of a request for the observer. It is nil if there is
// no observer.
type Events struct {
	observer  Observer
	requestID string
	span      call.Span
	revision  int64
	list      []Event
	held      bool // report nothing until End, because the request may still fail
}

// maxEvents is how many events are reported to the observer in one call, unless they
// are held.
const maxEvents = 64

var eventsPool = sync.Pool{New: func() any { return &Events{list: make([]Event, 0, maxEvents)} }}

// Events returns an empty collection for the call, which reads the state, from the pool.
// End returns it there.
func (v *Evaluator) Events(c *call.Call, state service.State) *Events {
	if v.observer == nil {
		return nil
	}
	e := eventsPool.Get().(*Events)
	e.observer, e.requestID, e.span, e.revision = v.observer, c.Caller.RequestID, c.Span, state.Revision
	return e
}

// End reports the remaining events.
func (e *Events) End() {
	if e == nil {
		return
	}
	e.report()
	if cap(e.list) > maxEvents {
		return // grown while held: too large for the pool
	}
	e.observer, e.span, e.held = nil, nil, false
	eventsPool.Put(e)
}

// Hold keeps all events until End, so that Discard can still change them.
func (e *Events) Hold() {
	if e != nil {
		e.held = true
	}
}

// Discard replaces the results of all unreported evaluations by err, because the caller
// gets none of them.
func (e *Events) Discard(err error) {
	if e == nil {
		return
	}
	for i := range e.list {
		of := &e.list[i]
		*of = Event{
			RequestID: of.RequestID, Span: of.Span, Revision: of.Revision, Namespace: of.Namespace, Flag: of.Flag, EntityID: of.EntityID,
			Type: of.Type, Err: err, FlagExists: of.FlagExists, Duration: of.Duration,
		}
	}
}

func (e *Events) report() {
	if len(e.list) > 0 {
		e.observer.Evaluated(e.list)
		e.list = slices.Delete(e.list, 0, len(e.list))
	}
}

// Last returns the event that was added last.
func (e *Events) Last() *Event { return &e.list[len(e.list)-1] }

// Variant adds an evaluation of a variant flag.
func (e *Events) Variant(m Evaluated, r *guidon.VariantResult, err error, duration time.Duration) {
	if e == nil {
		return
	}
	last := e.add(m, typeVariant, err, duration)
	if err == nil {
		last.Value, last.Reason, last.Match, last.SegmentKeys = r.VariantKey, reasonNames[r.Reason], r.Match, r.SegmentKeys
		last.Split = r.Match && r.Divided
	}
}

// Boolean adds an evaluation of a boolean flag.
func (e *Events) Boolean(m Evaluated, r *guidon.BooleanResult, err error, duration time.Duration) {
	if e == nil {
		return
	}
	last := e.add(m, typeBoolean, err, duration)
	if err == nil {
		last.Value, last.Reason, last.SegmentKeys = strconv.FormatBool(r.Enabled), reasonNames[r.Reason], r.SegmentKeys
		last.Match = r.Reason == guidon.ReasonMatch
		last.Split = r.Divided
	}
}

// Unknown adds an evaluation of a flag of unknown type.
func (e *Events) Unknown(m Evaluated, err error, duration time.Duration) {
	if e != nil {
		e.add(m, "", err, duration)
	}
}

// add appends an event without a result and returns it.
func (e *Events) add(m Evaluated, kind string, err error, duration time.Duration) *Event {
	if len(e.list) == maxEvents && !e.held {
		e.report()
	}
	e.list = append(e.list, Event{})
	last := &e.list[len(e.list)-1]
	last.RequestID, last.Span, last.Revision, last.EntityID = e.requestID, e.span, e.revision, m.GetEntityId()
	last.Namespace, last.Flag, last.Type, last.Duration = convert.NamespaceOf(m), m.GetFlagKey(), kind, duration
	last.Err, last.FlagExists = err, err == nil || showsFlag(last.Namespace, err)
	return last
}

// showsFlag reports whether only a flag of the namespace that exists can have failed like that.
func showsFlag(namespace string, err error) bool {
	_, past := service.ReferenceKey(namespace) // which is no namespace, and InvalidArgument says so
	return !past && (errors.Is(err, guidon.InvalidArgument) || errors.Is(err, guidon.Unimplemented))
}

func (v *Evaluator) observeVariant(
	c *call.Call, state service.State, m Evaluated, r *guidon.VariantResult, err error, duration time.Duration,
) {
	events := v.Events(c, state)
	events.Variant(m, r, err, duration)
	events.End()
}

func (v *Evaluator) observeBoolean(
	c *call.Call, state service.State, m Evaluated, r *guidon.BooleanResult, err error, duration time.Duration,
) {
	events := v.Events(c, state)
	events.Boolean(m, r, err, duration)
	events.End()
}

// observeBatch reports the evaluations of a batch that ended with err. It reports none
// for a request that was rejected before anything was evaluated.
func observeBatch[M Evaluated](
	v *Evaluator, c *call.Call, state service.State, items []M, results []service.Evaluation, err error, whole time.Duration,
) {
	failure, failed := errors.AsType[*service.BatchItemError](err)
	if err != nil && !failed {
		return
	}
	events := v.Events(c, state)
	if events == nil {
		return
	}
	duration := whole / time.Duration(max(len(items), 1))
	for i, m := range items {
		if failed {
			events.Unknown(m, errorOfItem(failure, i), duration)
			continue
		}
		switch r := results[i]; {
		case r.Variant != nil:
			events.Variant(m, r.Variant, nil, duration)
		case r.Boolean != nil:
			events.Boolean(m, r.Boolean, nil, duration)
		case r.Err != nil:
			events.Unknown(m, r.Err, duration)
		default:
			events.Unknown(m, errUnknownFlag, duration)
		}
	}
	events.End()
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

var reasonNames = [...]string{
	guidon.ReasonUnknown: "unknown", guidon.ReasonFlagDisabled: "flag_disabled", guidon.ReasonMatch: "match", guidon.ReasonDefault: "default",
}
