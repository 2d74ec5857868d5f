package playground

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// outcome is the result of an entity, with its color.
type outcome struct{ Color, Name string }

// span is a piece of a sentence. Code is set in another font.
type span struct {
	Text string
	Code bool
}

func plain(format string, arguments ...any) span {
	return span{Text: fmt.Sprintf(format, arguments...)}
}

func codeSpan(text string) span { return span{text, true} }

// askOne explains one flag.
func (m *model) askOne(v *page.Visit, at state, context map[string]string) error {
	request := &guidonv1.ExplainRequest{NamespaceKey: at.Reference, Key: m.flag.GetKey(), EntityId: m.form.Entity, Context: context}
	if m.form.Draft != "" {
		request.Flag = m.flag
	}
	e, err := page.ExplainFlag.Run(v, request)
	if err != nil {
		return m.fail(err)
	}
	m.answer = &answer{v: v, m: m, e: e, boolean: e.GetFlagType() == flipt.FlagType_BOOLEAN_FLAG_TYPE, revision: at.Revision}
	return nil
}

// fail shows the error instead of an answer if the request caused it. Otherwise it returns the
// error.
func (m *model) fail(err error) error {
	if code := guidon.CodeOf(err); code != guidon.InvalidArgument && code != guidon.TooLarge {
		return err
	}
	m.failure = "This cannot be evaluated: " + guidon.PublicMessage(err) + "."
	return nil
}

// answer is the result of an entity for one flag, and the explanation in words.
type answer struct {
	v        *page.Visit
	m        *model
	e        *guidonv1.ExplainResponse
	boolean  bool
	revision int64
}

// maxShown limits how much of an attachment is shown, in bytes.
const maxShown = 2 << 10

// at says of which state the answer is, and how long it took.
func (x *answer) at() string {
	text := "revision " + page.Revision(x.revision)
	if at := x.e.GetAsOf(); at != nil {
		text += " at " + analysis.InstantWords(at.AsTime())
	}
	r := x.e.GetResult()
	millis := cmp.Or(r.GetBooleanResponse().GetRequestDurationMillis(), r.GetVariantResponse().GetRequestDurationMillis())
	return text + " · " + strconv.FormatFloat(millis, 'f', 2, 64) + " ms"
}

// attachment returns that of the variant, or "".
func (x *answer) attachment() string {
	return x.e.GetResult().GetVariantResponse().GetVariantAttachment()
}

// outcome returns the result of the entity.
func (x *answer) outcome() outcome {
	if x.boolean {
		return value(x.e.GetResult().GetBooleanResponse().GetEnabled())
	}
	return x.variant(x.e.GetResult().GetVariantResponse().GetVariantKey())
}

func value(enabled bool) outcome {
	if enabled {
		return outcome{"c-on", "On"}
	}
	return outcome{"c-off", "Off"}
}

func (x *answer) variant(key string) outcome {
	if key == "" {
		return outcome{"c-none", "Nothing"}
	}
	index := slices.IndexFunc(x.m.flag.GetVariants(), func(v *guidonv1.DocumentVariant) bool { return v.GetKey() == key })
	return outcome{part.VariantColor(index), key}
}

// ruleName returns the name of a rule in a sentence.
func ruleName(number int32) string { return "rule " + strconv.Itoa(int(number)) }

// lead returns the reason in a sentence or two.
func (x *answer) lead() []span {
	if n := int(x.e.GetDecidedBy()); n > 0 && n <= len(x.e.GetSteps()) {
		return x.decidedLead(x.e.GetSteps()[n-1])
	}
	if unmet := x.e.GetUnmet(); unmet != "" {
		return []span{plain("The flag is off for this entity, because flag "), codeSpan(unmet), plain(" does not answer as it requires.")}
	}
	if x.boolean {
		return []span{plain("No rule fits, so the entity gets what everyone else gets.")}
	}
	r := x.e.GetResult().GetVariantResponse()
	byDefault := []span{plain("so the answer is the default variant.")}
	if r.GetVariantKey() == "" {
		byDefault = []span{plain("and there is no default variant: the default in the code applies.")}
	}
	if r.GetReason() == evaluation.EvaluationReason_FLAG_DISABLED_EVALUATION_REASON {
		return append([]span{plain("The flag is off, ")}, byDefault...)
	}
	return append([]span{plain("No rule fits, ")}, byDefault...)
}

// decidedLead returns why the rule decided.
func (x *answer) decidedLead(s *guidonv1.ExplainedStep) []span {
	lead := []span{plain("The entity is ")}
	joint := " or in "
	if s.GetSegmentOperator() == flipt.SegmentOperator_AND_SEGMENT_OPERATOR {
		joint = " and in "
	}
	const most = 5
	named := 0
	for _, g := range s.GetSegments() {
		if !g.GetMatched() || named == most {
			continue
		}
		name, _ := x.m.info.SegmentName(g.GetKey())
		if named == 0 {
			lead = append(lead, plain("in %s", name))
		} else {
			lead = append(lead, plain("%s%s", joint, name))
		}
		named++
	}
	if named == 0 {
		lead = nil
	} else {
		lead = append(lead, plain(", so "))
	}
	bucket := s.GetBucket()
	if bucket == nil {
		return append(lead, plain("%s decides.", ruleName(s.GetNumber())))
	}
	lead = append(lead, plain("%s decides, by share. ", ruleName(s.GetNumber())), codeSpan(guidon.Shorten(x.m.form.Entity, 80)),
		plain(" falls into bucket %d of %d, ", bucket.GetNumber(), bucket.GetOf()))
	chosen := int(bucket.GetChosen())
	if chosen == 0 {
		return append(lead, plain("which no share has. Later rules are not tried."))
	}
	r := bucket.GetRanges()[chosen-1]
	if x.boolean {
		return append(lead, plain("and the rule takes %s.", buckets(r)))
	}
	return append(lead, plain("and %s has %s.", cmp.Or(r.GetVariantKey(), "nothing"), buckets(r)))
}

// buckets returns the buckets of a range that is not empty.
func buckets(r *guidonv1.ExplainedRange) string {
	if r.GetTo() == r.GetFrom()+1 {
		return strconv.Itoa(int(r.GetFrom()))
	}
	return strconv.Itoa(int(r.GetFrom())) + "–" + strconv.Itoa(int(r.GetTo()-1))
}
