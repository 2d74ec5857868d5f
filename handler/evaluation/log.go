package evaluation

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// Log is an [Observer] that logs each evaluation as an event, under
// the names of OpenTelemetry's semantic conventions for feature flags (OFREP 13). It is
// safe for concurrent use.
type Log struct {
	logger   *slog.Logger
	entities bool
}

// NewLog returns an EvaluationLog. It logs the entity of an evaluation, which
// is personal data, only if entities is set.
func NewLog(logger *slog.Logger, entities bool) *Log {
	return &Log{logger: logger, entities: entities}
}

// Evaluated implements [Observer].
func (l *Log) Evaluated(events []Event) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	for i := range events {
		call.LogEvent(ctx, l.logger, slog.LevelInfo, "feature_flag.evaluation",
			func(room []slog.Attr) []slog.Attr { return l.attributes(room, &events[i]) })
	}
}

// SnapshotRequested implements [Observer]. It logs nothing.
func (l *Log) SnapshotRequested(string, int) {}

// attributes appends the attributes that the conventions name, and the request id that
// the request is logged with.
func (l *Log) attributes(attributes []slog.Attr, e *Event) []slog.Attr {
	attributes = e.Attributes(append(attributes, slog.String("request_id", e.RequestID)), l.entities)
	if e.Err != nil {
		attributes = append(attributes, slog.String("feature_flag.error.message", call.Clip(guidon.PublicMessage(e.Err))))
	}
	return attributes
}

// Attributes appends the attributes that the conventions name, except the message of an error.
// The entity, which is personal data, is among them only if entities is set.
func (e *Event) Attributes(attributes []slog.Attr, entities bool) []slog.Attr {
	attributes = append(attributes,
		slog.String("feature_flag.provider.name", "guidon"),
		slog.String("feature_flag.set.id", call.Clip(e.Namespace)),
		slog.String("feature_flag.key", call.Clip(e.Flag)),
		slog.String("feature_flag.result.reason", e.conventionalReason()),
	)
	if e.Value != "" {
		attributes = append(attributes, slog.String("feature_flag.result.variant", e.Value))
	}
	if e.Revision > 0 {
		attributes = append(attributes, slog.String("feature_flag.version", strconv.FormatInt(e.Revision, 10)))
	}
	if entities && e.EntityID != "" {
		attributes = append(attributes, slog.String("feature_flag.context.id", call.Clip(e.EntityID)))
	}
	if e.Err != nil {
		attributes = append(attributes, slog.String("error.type", conventionalError(e.Err)))
	}
	return attributes
}

// conventionalReason returns the reason as the conventions name it: that of OFREP, in
// lower case.
func (e *Event) conventionalReason() string {
	switch {
	case e.Err != nil:
		return "error"
	case e.OFREPReason != "":
		return strings.ToLower(e.OFREPReason)
	case e.Reason == reasonNames[guidon.ReasonFlagDisabled]:
		return "disabled"
	case e.Reason == reasonNames[guidon.ReasonMatch] && e.Split:
		return "split"
	case e.Reason == reasonNames[guidon.ReasonMatch]:
		return "targeting_match"
	}
	return e.Reason // "default" or "unknown"
}

// CodedError is an error with an error code of OFREP.
type CodedError interface {
	error
	OFREPCode() string
}

// conventionalError returns the conventions' name of the error: the error code of OFREP
// in lower case, or type_mismatch, which OFREP does not use.
func conventionalError(err error) string {
	if guidon.IsWrongFlagType(err) {
		return "type_mismatch"
	}
	return strings.ToLower(ErrorCode(err))
}

// ErrorCode returns the OFREP code of the error of an evaluation (OFREP 5).
func ErrorCode(err error) string {
	if coded, ok := errors.AsType[CodedError](err); ok {
		return coded.OFREPCode()
	}
	if guidon.CodeOf(err) == guidon.NotFound {
		return "FLAG_NOT_FOUND"
	}
	return "GENERAL"
}

// Observers returns an observer that notifies all that are not nil, or nil if
// there is none.
func Observers(all ...Observer) Observer {
	present := slices.DeleteFunc(slices.Clone(observers(all)), func(o Observer) bool { return o == nil })
	switch len(present) {
	case 0:
		return nil
	case 1:
		return present[0]
	}
	return present
}

type observers []Observer

func (o observers) Evaluated(events []Event) {
	for _, one := range o {
		one.Evaluated(events)
	}
}

func (o observers) SnapshotRequested(namespace string, omitted int) {
	for _, one := range o {
		one.SnapshotRequested(namespace, omitted)
	}
}
