package quick

import (
	"strconv"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// quickAnswer appends evaluation responses like [Marshal], but without their
// descriptors.
type quickAnswer struct {
	b   []byte
	err error

	// The last timing written and its position in b. All responses of a batch have
	// the same timing.
	duration   float64
	at         *timestamppb.Timestamp
	start, end int
}

// Append is codec.Append for evaluation responses. It reports whether m is one.
func Append(b []byte, m proto.Message) ([]byte, bool, error) {
	if !Enabled {
		return b, false, nil
	}
	a := quickAnswer{b: b}
	switch m := m.(type) {
	case *evaluation.BooleanEvaluationResponse:
		a.boolean(m)
	case *evaluation.VariantEvaluationResponse:
		a.variant(m)
	case *evaluation.BatchEvaluationResponse:
		a.batch(m)
	default:
		return b, false, nil
	}
	if a.err != nil {
		return nil, true, a.err
	}
	return a.b, true, nil
}

func (a *quickAnswer) batch(m *evaluation.BatchEvaluationResponse) {
	a.text(`{"requestId":`, m.GetRequestId())
	a.raw(`,"responses":[`)
	for i, one := range m.GetResponses() {
		if i > 0 {
			a.raw(",")
		}
		a.one(one)
	}
	a.raw(`],"requestDurationMillis":`)
	a.b = jsontext.AppendFloat(a.b, m.GetRequestDurationMillis(), 64)
	a.raw("}")
}

func (a *quickAnswer) one(m *evaluation.EvaluationResponse) {
	a.enum(`{"type":`, evaluation.EvaluationResponseType_name, int32(m.GetType()))
	switch one := m.GetResponse().(type) {
	case *evaluation.EvaluationResponse_BooleanResponse:
		a.raw(`,"booleanResponse":`)
		a.boolean(one.BooleanResponse)
	case *evaluation.EvaluationResponse_VariantResponse:
		a.raw(`,"variantResponse":`)
		a.variant(one.VariantResponse)
	case *evaluation.EvaluationResponse_ErrorResponse:
		a.raw(`,"errorResponse":`)
		a.failure(one.ErrorResponse)
	}
	a.raw("}")
}

func (a *quickAnswer) boolean(m *evaluation.BooleanEvaluationResponse) {
	a.raw(`{"enabled":`)
	a.b = strconv.AppendBool(a.b, m.GetEnabled())
	a.enum(`,"reason":`, evaluation.EvaluationReason_name, int32(m.GetReason()))
	a.text(`,"requestId":`, m.GetRequestId())
	a.timing(m.GetRequestDurationMillis(), m.GetTimestamp())
	a.text(`,"flagKey":`, m.GetFlagKey())
	a.texts(`,"segmentKeys":[`, m.GetSegmentKeys())
	a.raw("}")
}

func (a *quickAnswer) variant(m *evaluation.VariantEvaluationResponse) {
	a.raw(`{"match":`)
	a.b = strconv.AppendBool(a.b, m.GetMatch())
	a.texts(`,"segmentKeys":[`, m.GetSegmentKeys())
	a.enum(`,"reason":`, evaluation.EvaluationReason_name, int32(m.GetReason()))
	a.text(`,"variantKey":`, m.GetVariantKey())
	a.text(`,"variantAttachment":`, m.GetVariantAttachment())
	a.text(`,"requestId":`, m.GetRequestId())
	a.timing(m.GetRequestDurationMillis(), m.GetTimestamp())
	a.text(`,"flagKey":`, m.GetFlagKey())
	a.raw("}")
}

func (a *quickAnswer) failure(m *evaluation.ErrorEvaluationResponse) {
	a.text(`{"flagKey":`, m.GetFlagKey())
	a.text(`,"namespaceKey":`, m.GetNamespaceKey())
	a.enum(`,"reason":`, evaluation.ErrorEvaluationReason_name, int32(m.GetReason()))
	a.raw("}")
}

// timing appends the duration and the time of the evaluation.
func (a *quickAnswer) timing(duration float64, at *timestamppb.Timestamp) {
	if at != nil && at == a.at && duration == a.duration {
		a.b = append(a.b, a.b[a.start:a.end]...)
		return
	}
	a.start = len(a.b)
	a.raw(`,"requestDurationMillis":`)
	a.b = jsontext.AppendFloat(a.b, duration, 64)
	if at != nil {
		a.raw(`,"timestamp":"`)
		b, err := jsontext.AppendTimestamp(a.b, at.GetSeconds(), at.GetNanos())
		if err != nil {
			a.err = err
			return
		}
		a.b = append(b, '"')
	}
	a.duration, a.at, a.end = duration, at, len(a.b)
}

// raw appends JSON as it is.
func (a *quickAnswer) raw(text string) { a.b = append(a.b, text...) }

// text appends the label and a string.
func (a *quickAnswer) text(label, text string) {
	a.b = jsontext.AppendString(append(a.b, label...), text)
}

// texts appends a list of strings. The label includes the opening bracket.
func (a *quickAnswer) texts(label string, list []string) {
	a.raw(label)
	for i, text := range list {
		if i > 0 {
			a.raw(",")
		}
		a.b = jsontext.AppendString(a.b, text)
	}
	a.raw("]")
}

// enum appends the label and the name of the number, or the number if it has no name.
func (a *quickAnswer) enum(label string, names map[int32]string, number int32) {
	a.raw(label)
	if name, ok := names[number]; ok {
		a.b = append(append(append(a.b, '"'), name...), '"')
		return
	}
	a.b = strconv.AppendInt(a.b, int64(number), 10)
}
