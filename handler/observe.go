package handler

import (
	"errors"
	"strconv"
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

func (h *Handler) observeVariant(m ofFlag, r guidon.VariantResult, err error, duration time.Duration) {
	if h.config.Observer == nil {
		return
	}
	e := eventOf(m, typeVariant, err, duration)
	if err == nil {
		e.Value, e.Reason, e.Match, e.SegmentKeys = r.VariantKey, reasonName(r.Reason), r.Match, r.SegmentKeys
	}
	h.config.Observer.Evaluated(e)
}

func (h *Handler) observeBoolean(m ofFlag, r guidon.BooleanResult, err error, duration time.Duration) {
	if h.config.Observer == nil {
		return
	}
	e := eventOf(m, typeBoolean, err, duration)
	if err == nil {
		e.Value, e.Reason, e.SegmentKeys = strconv.FormatBool(r.Enabled), reasonName(r.Reason), r.SegmentKeys
		e.Match = r.Reason == guidon.ReasonMatch
	}
	h.config.Observer.Evaluated(e)
}

// observeBatch tells about each answer of a batch.
func observeBatch[M ofFlag](h *Handler, items []M, results []guidon.Evaluation, whole time.Duration) {
	if h.config.Observer == nil || len(items) == 0 {
		return
	}
	duration := whole / time.Duration(len(items))
	for i, m := range items {
		switch r := results[i]; {
		case r.Variant != nil:
			h.observeVariant(m, *r.Variant, nil, duration)
		case r.Boolean != nil:
			h.observeBoolean(m, *r.Boolean, nil, duration)
		default:
			h.config.Observer.Evaluated(eventOf(m, "", errUnknownFlag, duration))
		}
	}
}

// errUnknownFlag is the error of an evaluation in a batch that is otherwise fine.
var errUnknownFlag = guidon.Errorf(guidon.NotFound, "flag not found")

func eventOf(m ofFlag, kind string, err error, duration time.Duration) EvaluationEvent {
	return EvaluationEvent{
		Namespace: namespaceOf(m), Flag: m.GetFlagKey(), Type: kind,
		Err: err, FlagExists: err == nil || errors.Is(err, guidon.InvalidArgument), Duration: duration,
	}
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
