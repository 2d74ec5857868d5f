package handler

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// EvaluationLog is an [Observer] that logs each evaluation as an event, under the names
// of OpenTelemetry's semantic conventions for feature flags (OFREP 13). It is safe for
// concurrent use.
type EvaluationLog struct {
	logger   *slog.Logger
	entities bool
}

// NewEvaluationLog returns an EvaluationLog. It logs the entity of an evaluation, which
// is personal data, only if entities is set.
func NewEvaluationLog(logger *slog.Logger, entities bool) *EvaluationLog {
	return &EvaluationLog{logger: logger, entities: entities}
}

// Finished implements [Observer].
func (*EvaluationLog) Finished(string, string, guidon.Code, time.Duration) {}

// Evaluated implements [Observer].
func (l *EvaluationLog) Evaluated(events []EvaluationEvent) {
	ctx := context.Background()
	if !l.logger.Enabled(ctx, slog.LevelInfo) {
		return
	}
	for i := range events {
		logEvent(ctx, l.logger, slog.LevelInfo, "feature_flag.evaluation", func(room []slog.Attr) []slog.Attr { return l.attributes(room, &events[i]) })
	}
}

// attributes appends the attributes that the conventions name, and the request id that
// the request is logged with.
func (l *EvaluationLog) attributes(attributes []slog.Attr, e *EvaluationEvent) []slog.Attr {
	attributes = append(attributes,
		slog.String("request_id", e.RequestID),
		slog.String("feature_flag.provider.name", "guidon"),
		slog.String("feature_flag.set.id", clip(e.Namespace)),
		slog.String("feature_flag.key", clip(e.Flag)),
		slog.String("feature_flag.result.reason", e.conventionalReason()),
	)
	if e.Value != "" {
		attributes = append(attributes, slog.String("feature_flag.result.variant", e.Value))
	}
	if e.Revision > 0 {
		attributes = append(attributes, slog.String("feature_flag.version", strconv.FormatInt(e.Revision, 10)))
	}
	if l.entities && e.EntityID != "" {
		attributes = append(attributes, slog.String("feature_flag.context.id", clip(e.EntityID)))
	}
	if e.Err != nil {
		attributes = append(attributes,
			slog.String("error.type", conventionalError(e.Err)),
			slog.String("feature_flag.error.message", clip(guidon.PublicMessage(e.Err))))
	}
	return attributes
}

// conventionalReason returns the reason as the conventions name it: that of OFREP, in
// lower case.
func (e *EvaluationEvent) conventionalReason() string {
	switch {
	case e.Err != nil:
		return "error"
	case e.OFREPReason != "":
		return strings.ToLower(e.OFREPReason)
	case e.Reason == reasonName(guidon.ReasonFlagDisabled):
		return strings.ToLower(ofrepDisabled)
	case e.Reason == reasonName(guidon.ReasonMatch) && e.Split:
		return strings.ToLower(ofrepSplit)
	case e.Reason == reasonName(guidon.ReasonMatch):
		return strings.ToLower(ofrepTargetingMatch)
	}
	return e.Reason // "default" or "unknown"
}

// conventionalError returns the conventions' name of the error: the error code of OFREP
// in lower case, or type_mismatch, which OFREP does not use.
func conventionalError(err error) string {
	if guidon.IsWrongFlagType(err) {
		return "type_mismatch"
	}
	return strings.ToLower(ofrepCodeOf(err))
}

// Observers returns an observer that notifies all that are not nil, or nil if there is
// none.
func Observers(all ...Observer) Observer {
	var present observers
	for _, o := range all {
		if o != nil {
			present = append(present, o)
		}
	}
	switch len(present) {
	case 0:
		return nil
	case 1:
		return present[0]
	}
	return present
}

type observers []Observer

func (o observers) Finished(operation, transport string, code guidon.Code, duration time.Duration) {
	for _, one := range o {
		one.Finished(operation, transport, code, duration)
	}
}

func (o observers) Evaluated(events []EvaluationEvent) {
	for _, one := range o {
		one.Evaluated(events)
	}
}
