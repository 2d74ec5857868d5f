package handler

import (
	"encoding/json"
	"math"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon"
)

// done is the answer of an operation that has nothing to say.
func done(err error) (*emptypb.Empty, error) {
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// answer converts what a call returned, unless that is an error.
func answer[T, M any](value T, err error, convert func(T) M) (M, error) {
	if err != nil {
		var none M
		return none, err
	}
	return convert(value), nil
}

// pageRequest is what lists have in common.
type pageRequest interface {
	GetLimit() int32
	GetPageToken() string
}

// pageOf returns the page that a list request asks for.
func pageOf(m pageRequest) guidon.PageRequest {
	page := guidon.PageRequest{Limit: m.GetLimit(), Token: m.GetPageToken()}
	if m, ok := m.(interface{ GetOffset() int32 }); ok { // not on rollouts (contract 6)
		page.Offset = m.GetOffset()
	}
	return page
}

// convertAll converts the items of a list.
func convertAll[T, M any](items []T, convert func(T) M) []M {
	converted := make([]M, len(items))
	for i, item := range items {
		converted[i] = convert(item)
	}
	return converted
}

// count returns a length as the wire has it.
func count(n int) int32 {
	return int32(min(n, math.MaxInt32)) // #nosec G115 -- bounded on the left
}

// enum returns an enum number of the wire as one of the domain, which refuses
// what it does not know: a number that does not fit must not become one that does.
func enum[T ~uint8, W ~int32](number W) T {
	if number < 0 || number > math.MaxUint8 {
		return math.MaxUint8
	}
	return T(number) // #nosec G115 -- checked
}

// timestamp returns the instant, unset where it is zero.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// instant returns the timestamp of the field, or nil if it is unset: the zero time
// is a timestamp like any other. Over gRPC a timestamp can be one that does not
// exist.
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

// jsonOf returns the object as JSON text, nil where it is unset.
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

// objectOf returns the JSON text of an object as the wire has it, unset where
// there is none or it is not an object, which the domain does not let in.
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
