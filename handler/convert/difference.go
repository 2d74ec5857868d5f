package convert

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// WordedDifference returns the message of a difference with the parts of its summary.
func WordedDifference(d change.Difference) *guidonv1.FieldDifference {
	m, w := Difference(d), d.Wording
	m.Wording = &guidonv1.DifferenceWording{Parts: w.Parts, Before: w.Before, After: w.After, What: w.What}
	return m
}

// Difference returns the message of a difference.
func Difference(d change.Difference) *guidonv1.FieldDifference {
	return &guidonv1.FieldDifference{
		Path: d.Path, Op: string(d.Op), Before: JSONValue(d.Before), After: JSONValue(d.After),
		From: position(d.From), To: position(d.To), Summary: d.Summary,
	}
}

// position returns a position that counts from 1, or nil for 0.
func position(n int) *int32 {
	if n == 0 {
		return nil
	}
	return new(Count(n))
}

// JSONValue returns the message of a JSON value, or nil if text is empty. Values that the
// message cannot express, such as a number that is too large, become strings.
func JSONValue(text json.RawMessage) *structpb.Value {
	if len(text) == 0 {
		return nil
	}
	var value any
	if json.Unmarshal(text, &value) == nil {
		if message, err := structpb.NewValue(value); err == nil {
			return message
		}
	}
	return structpb.NewStringValue(string(text))
}
