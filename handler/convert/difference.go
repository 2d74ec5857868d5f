package convert

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Difference returns the message of a difference.
func Difference(d change.Difference) *guidonv1.FieldDifference {
	return &guidonv1.FieldDifference{
		Path: d.Path, Op: string(d.Op), Before: value(d.Before), After: value(d.After),
		From: Count(d.From), To: Count(d.To), Summary: d.Summary,
	}
}

// value converts JSON to its wire type. It returns nil if text is empty or not valid, which
// a difference never is.
func value(text json.RawMessage) *structpb.Value {
	if len(text) == 0 {
		return nil
	}
	v := new(structpb.Value)
	if v.UnmarshalJSON(text) != nil {
		return nil
	}
	return v
}
