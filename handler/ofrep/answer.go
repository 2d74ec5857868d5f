package ofrep

import (
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/service/count"
)

// Evaluation reasons (OFREP 11).
const (
	reasonStatic         = "STATIC"
	reasonDefault        = "DEFAULT"
	reasonTargetingMatch = "TARGETING_MATCH"
	reasonSplit          = "SPLIT"
	reasonDisabled       = "DISABLED"
)

// answer is the result of evaluating a flag.
type answer struct {
	key      string
	flag     *guidon.Flag         // nil if the flag does not exist
	compiled *guidon.CompiledFlag // or nil
	form     *flagForm
	variant  guidon.VariantResult
	boolean  guidon.BooleanResult
	err      error
}

// evaluate evaluates a flag of either type. A missing targeting key is an error
// only if the result depends on it (OFREP 11).
func evaluate(s *guidon.Snapshot, q *Request, key string) answer {
	a := answer{key: key}
	f := s.Compiled(key)
	if f == nil {
		a.err = guidon.Errorf(guidon.NotFound, "flag %q not found", s.Namespace().Key+"/"+key)
		return a
	}
	a.flag, a.compiled, a.form = f.Flag(), f, flagForms.Of(f)
	entityID, properties := q.context.TargetingKey, q.context.Properties
	bucketed := false
	if a.flag.Type == guidon.BooleanFlag {
		a.boolean, a.err = f.Boolean(entityID, properties)
		bucketed = a.boolean.Bucketed
	} else {
		a.variant, a.err = f.Variant(entityID, properties)
		bucketed = a.variant.Bucketed
	}
	if bucketed && entityID == "" {
		a.err = &codedError{codeTargetingKeyMissing, guidon.Errorf(guidon.InvalidArgument,
			"invalid field context.targetingKey: must not be empty, because flag %q is split by it", key)}
	}
	return a
}

// evaluate evaluates a flag and adds the evaluation to the events.
func (p *Protocol) evaluate(s *guidon.Snapshot, q *Request, key string, events *evaluation.Events) answer {
	if events == nil {
		return evaluate(s, q, key) // without reading the clock
	}
	start := p.tick()
	a := evaluate(s, q, key)
	observe(events, q, &a, p.tick().Sub(start))
	return a
}

// observe adds the evaluation to the events.
func observe(e *evaluation.Events, q *Request, a *answer, duration time.Duration) {
	q.flag = a.key // empty in a bulk request
	switch {
	case a.flag == nil:
		e.Unknown(q, a.err, duration)
	case a.flag.Type == guidon.BooleanFlag:
		e.Boolean(q, &a.boolean, a.err, duration)
		e.Last().OFREPReason = a.booleanReason()
	default:
		e.Variant(q, &a.variant, a.err, duration)
		e.Last().OFREPReason = a.variantReason()
	}
}

// count counts the evaluation, unless there is no such flag.
func (a *answer) count(c *count.Counter, namespace string) {
	switch {
	case a.flag == nil:
	case a.flag.Type == guidon.BooleanFlag:
		c.Boolean(namespace, a.compiled, &a.boolean, a.err)
	default:
		c.Variant(namespace, a.compiled, &a.variant, a.err)
	}
}

// append appends the result or the error.
func (a *answer) append(b []byte) []byte {
	switch {
	case a.err != nil:
		return appendError(b, a.key, a.err)
	case a.flag.Type == guidon.BooleanFlag:
		return a.appendBoolean(b)
	}
	return a.appendVariant(b)
}

func (a *answer) appendBoolean(b []byte) []byte {
	value := "false"
	if a.boolean.Enabled {
		value = "true"
	}
	b = append(append(b, a.form.head...), `,"value":`...)
	b = append(append(b, value...), `,"variant":"`...)
	b = append(append(b, value...), `","reason":"`...)
	b = append(append(b, a.booleanReason()...), '"')
	if len(a.form.metadata) > 0 || a.boolean.Unmet != "" {
		b = append(append(b, `,"metadata":{`...), a.form.metadata...)
		b = append(appendUnmet(b, a.boolean.Unmet), '}')
	}
	return append(b, '}')
}

// appendUnmet appends the flag that was required and did not answer so, unless that is "".
func appendUnmet(b []byte, key string) []byte {
	if key == "" {
		return b
	}
	return jsontext.AppendString(append(b, separator(b)+`"unmet":`...), key)
}

// booleanReason never returns DISABLED: for that reason the client would use its own
// default, but a disabled boolean flag has the value false.
func (a *answer) booleanReason() string {
	switch {
	case a.boolean.Reason != guidon.ReasonMatch && a.form.static:
		return reasonStatic
	case a.boolean.Reason != guidon.ReasonMatch:
		return reasonDefault
	case a.boolean.Divided:
		return reasonSplit
	}
	return reasonTargetingMatch
}

func (a *answer) appendVariant(b []byte) []byte {
	b = append(b, a.form.head...)
	b = a.appendValue(b)
	b = jsontext.AppendString(append(b, `,"variant":`...), a.variant.VariantKey)
	b = append(append(append(b, `,"reason":"`...), a.variantReason()...), '"')
	return append(a.appendVariantMetadata(b), '}')
}

// appendValue appends nothing if the client's own default applies: a null would be a
// value of the wrong type.
func (a *answer) appendValue(b []byte) []byte {
	switch {
	case a.variant.VariantKey == "":
		return b
	case !a.form.typed:
		return jsontext.AppendString(append(b, `,"value":`...), a.variant.VariantKey)
	case a.variant.Attachment == "", a.variant.Attachment == "null":
		return b
	}
	return append(append(b, `,"value":`...), a.variant.Attachment...)
}

func (a *answer) variantReason() string {
	r := &a.variant
	switch {
	case r.Reason == guidon.ReasonFlagDisabled:
		return reasonDisabled
	case r.VariantKey == "":
		return reasonDefault // the default in the client's code
	case r.Reason == guidon.ReasonMatch && r.Divided:
		return reasonSplit
	case r.Reason == guidon.ReasonMatch:
		return reasonTargetingMatch
	case a.form.static:
		return reasonStatic
	}
	return reasonDefault
}

// appendVariantMetadata appends the metadata of the flag, the attachment if it is not
// the value, and the segments that matched.
func (a *answer) appendVariantMetadata(b []byte) []byte {
	attached := a.variant.Attachment != "" && !a.form.typed
	segments := a.variant.SegmentKeys
	if len(a.form.metadata) == 0 && !attached && len(segments) == 0 && a.variant.Unmet == "" {
		return b
	}
	b = appendUnmet(append(append(b, `,"metadata":{`...), a.form.metadata...), a.variant.Unmet)
	if attached {
		b = jsontext.AppendString(append(b, separator(b)+`"attachment":`...), a.variant.Attachment)
	}
	if len(segments) > 0 {
		if len(segments) > 1 {
			segments = slices.Sorted(slices.Values(segments))
		}
		b = jsontext.AppendString(append(b, separator(b)+`"segments":`...), strings.Join(segments, ","))
	}
	return append(b, '}')
}

// separator returns a comma unless the object at the end of b is still empty.
func separator(b []byte) string {
	if b[len(b)-1] == '{' {
		return ""
	}
	return ","
}
