package evaluate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/internal/lists"
)

// evaluated is the result of a flag for an entity.
type evaluated struct {
	entity   string
	response *evaluation.EvaluationResponse
}

// value returns the result itself: true, false, the key of a variant, or "" for none.
func (e evaluated) value() string {
	if b := e.response.GetBooleanResponse(); b != nil {
		return strconv.FormatBool(b.GetEnabled())
	}
	return e.response.GetVariantResponse().GetVariantKey()
}

// text returns the result in words.
func (e evaluated) text() string {
	switch {
	case e.response.GetErrorResponse() != nil:
		return "flag not found"
	case e.response.GetBooleanResponse() != nil:
		return e.value()
	}
	return variantText(e.response.GetVariantResponse().GetMatch(), e.value())
}

// reason returns why the flag has the result, and the segments that matched.
func (e evaluated) reason() (reason, segments string) {
	var why evaluation.EvaluationReason
	var keys []string
	switch {
	case e.response.GetErrorResponse() != nil:
		return "-", "-"
	case e.response.GetBooleanResponse() != nil:
		why, keys = e.response.GetBooleanResponse().GetReason(), e.response.GetBooleanResponse().GetSegmentKeys()
	default:
		why, keys = e.response.GetVariantResponse().GetReason(), e.response.GetVariantResponse().GetSegmentKeys()
	}
	word := strings.TrimSuffix(why.String(), "_EVALUATION_REASON")
	return strings.ReplaceAll(strings.ToLower(word), "_", " "), cli.OrDash(strings.Join(keys, ","))
}

// same reports whether two results are equal, except for the times of the responses.
func (e evaluated) same(other evaluated) bool {
	return proto.Equal(withoutTimes(e.response), withoutTimes(other.response))
}

// withoutTimes returns a copy of the response without its times.
func withoutTimes(r *evaluation.EvaluationResponse) *evaluation.EvaluationResponse {
	r = proto.CloneOf(r)
	if b := r.GetBooleanResponse(); b != nil {
		b.RequestId, b.RequestDurationMillis, b.Timestamp = "", 0, nil
	}
	if v := r.GetVariantResponse(); v != nil {
		v.RequestId, v.RequestDurationMillis, v.Timestamp = "", 0, nil
	}
	return r
}

// data returns the JSON of the response, with the entity in front.
func (e evaluated) data() ([]byte, error) {
	var message proto.Message = e.response.GetVariantResponse()
	if b := e.response.GetBooleanResponse(); b != nil {
		message = b
	}
	if none := e.response.GetErrorResponse(); none != nil {
		message = none
	}
	text, err := codec.Marshal(message)
	if err != nil {
		return nil, err
	}
	entity, err := json.Marshal(e.entity)
	if err != nil {
		return nil, err
	}
	return bytes.Replace(text, []byte("{"), fmt.Appendf(nil, `{"entityId":%s,`, entity), 1), nil
}

// shownEvaluations returns the output for the results: as data a list if there may be many.
func shownEvaluations(results []evaluated, many bool) cli.Output {
	data := cli.DataOfEach(results, evaluated.data)
	if !many {
		data = results[0].data
	}
	return cli.Output{
		Data: data, Names: lists.Map(results, evaluated.value),
		Table: cli.Rows("ENTITY\tRESULT\tREASON\tSEGMENTS", results, func(r evaluated) []any {
			reason, segments := r.reason()
			return []any{r.entity, r.text(), reason, segments}
		}),
	}
}
