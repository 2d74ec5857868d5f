package convert

import (
	"encoding/json"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Done returns the empty response of a change that has no result, with the results of the
// change.
func Done(revision int64, err error) (*emptypb.Empty, int64, error) {
	if err != nil {
		return nil, revision, err
	}
	return &emptypb.Empty{}, revision, nil
}

// Changed converts the result of a change, unless err is an error.
func Changed[T, M any](value T, revision int64, err error, convert func(T) M) (M, int64, error) {
	message, err := Result(value, err, convert)
	return message, revision, err
}

// Result converts the result of a read, unless err is an error.
func Result[T, M any](value T, err error, convert func(T) M) (M, error) {
	if err != nil {
		var none M
		return none, err
	}
	return convert(value), nil
}

// PageRequest is implemented by all list requests.
type PageRequest interface {
	GetLimit() int32
	GetPageToken() string
}

// Page returns the page that a list request specifies.
func Page(m PageRequest) service.PageRequest {
	page := service.PageRequest{Limit: m.GetLimit(), Token: m.GetPageToken()}
	if m, ok := m.(interface{ GetOffset() int32 }); ok { // not on rollouts (contract 6)
		page.Offset = m.GetOffset()
	}
	return page
}

// Count returns a length as the wire type, capped at the largest value.
func Count(n int) int32 {
	return int32(min(n, math.MaxInt32)) // #nosec G115 -- capped above
}

// Enum converts an enum number of the wire to one of the domain, which rejects unknown
// numbers. A number that does not fit must not become a known one by truncation.
func Enum[T ~uint8 | ~uint16, W ~int32](number W) T {
	if converted := T(number); W(converted) == number { // #nosec G115 -- checked by converting back
		return converted
	}
	return ^T(0)
}

// Timestamp converts the instant, or returns nil if it is zero.
func Timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// Instant converts the timestamp of the field, or returns nil if it is unset: the zero
// time is a timestamp like any other. gRPC messages can have invalid timestamps.
func Instant(field string, t *timestamppb.Timestamp) (*time.Time, error) {
	if t == nil {
		return nil, nil
	}
	if t.CheckValid() != nil {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must be a time between the years 1 and 9999", field)
	}
	return new(t.AsTime()), nil
}

// JSON returns the object as JSON, or nil if it is unset.
func JSON(field string, object *structpb.Struct) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	text, err := object.MarshalJSON()
	if err != nil { // NaN or an infinity, over gRPC
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must be a json object", field)
	}
	return text, nil
}

// Object converts a JSON object to its wire type. It returns nil if text is empty or
// not an object, which the domain never stores.
func Object(text json.RawMessage) *structpb.Struct {
	if len(text) == 0 {
		return nil
	}
	var members map[string]any
	if json.Unmarshal(text, &members) != nil || members == nil {
		return nil
	}
	object, err := structpb.NewStruct(members)
	if err != nil {
		return nil
	}
	return object
}
