package handler

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

// done returns the empty response of a change that has no result, with the results of the
// change.
func done(revision int64, err error) (*emptypb.Empty, int64, error) {
	if err != nil {
		return nil, revision, err
	}
	return &emptypb.Empty{}, revision, nil
}

// changed converts the result of a change, unless err is an error.
func changed[T, M any](value T, revision int64, err error, convert func(T) M) (M, int64, error) {
	message, err := answer(value, err, convert)
	return message, revision, err
}

// answer converts the result of a read, unless err is an error.
func answer[T, M any](value T, err error, convert func(T) M) (M, error) {
	if err != nil {
		var none M
		return none, err
	}
	return convert(value), nil
}

// pageRequest is what all list requests have in common.
type pageRequest interface {
	GetLimit() int32
	GetPageToken() string
}

// pageOf returns the page that a list request specifies.
func pageOf(m pageRequest) service.PageRequest {
	page := service.PageRequest{Limit: m.GetLimit(), Token: m.GetPageToken()}
	if m, ok := m.(interface{ GetOffset() int32 }); ok { // not on rollouts (contract 6)
		page.Offset = m.GetOffset()
	}
	return page
}

func convertAll[T, M any](items []T, convert func(T) M) []M {
	converted := make([]M, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}

// count returns a length as the wire type, capped at the largest value.
func count(n int) int32 {
	return int32(min(n, math.MaxInt32)) // #nosec G115 -- capped above
}

// enum converts an enum number of the wire to one of the domain, which rejects unknown
// numbers. A number that does not fit must not become a known one by truncation.
func enum[T ~uint8, W ~int32](number W) T {
	if number < 0 || number > math.MaxUint8 {
		return math.MaxUint8
	}
	return T(number) // #nosec G115 -- checked
}

// timestamp converts the instant, or returns nil if it is zero.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// instant converts the timestamp of the field, or returns nil if it is unset: the zero
// time is a timestamp like any other. gRPC messages can have invalid timestamps.
func instant(field string, t *timestamppb.Timestamp) (*time.Time, error) {
	if t == nil {
		return nil, nil
	}
	if t.CheckValid() != nil {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must be a time between the years 1 and 9999", field)
	}
	at := t.AsTime()
	return &at, nil
}

// jsonOf returns the object as JSON, or nil if it is unset.
func jsonOf(field string, object *structpb.Struct) (json.RawMessage, error) {
	if object == nil {
		return nil, nil
	}
	text, err := object.MarshalJSON()
	if err != nil { // NaN or an infinity, over gRPC
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field %s: must be a json object", field)
	}
	return text, nil
}

// objectOf converts a JSON object to its wire type. It returns nil if text is empty or
// not an object, which the domain never stores.
func objectOf(text json.RawMessage) *structpb.Struct {
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
