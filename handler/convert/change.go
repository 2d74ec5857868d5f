package convert

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Change returns the message of a change record.
func Change(c *change.Record) *guidonv1.Change {
	m := ChangeWithoutObjects(c)
	m.Before, m.After = recorded(c.Before), recorded(c.After)
	return m
}

// ChangeWithoutObjects is [Change] without the objects before and after.
func ChangeWithoutObjects(c *change.Record) *guidonv1.Change {
	m := ChangeWithoutSummary(c)
	m.Summary = c.Summary()
	return m
}

// NamedChange is [Change] with the name of the object instead of its states before and after.
func NamedChange(c *change.Record) *guidonv1.Change {
	m := ChangeWithoutObjects(c)
	m.Name = new(c.Name())
	return m
}

// ChangeWithoutSummary is [ChangeWithoutObjects] without the summary, which is made from the
// objects.
func ChangeWithoutSummary(c *change.Record) *guidonv1.Change {
	return &guidonv1.Change{
		NamespaceKey: c.Namespace, Revision: c.Revision, Sequence: c.Sequence,
		Kind: string(c.Kind), Key: c.Key, Action: string(c.Action),
		Actor: &guidonv1.Actor{Id: c.Actor.ID, Name: c.Actor.Name, Method: c.Actor.Method},
		At:    Timestamp(c.At), RequestId: c.RequestID,
		Address: optional(c.Address), Message: optional(c.Message), Reason: changeReason(c.Reason),
	}
}

// changeReason returns the message of a reason, or nil if there is none.
func changeReason(r change.Reason) *guidonv1.ChangeReason {
	if r == (change.Reason{}) {
		return nil
	}
	return &guidonv1.ChangeReason{
		Kind: string(r.Kind), NamespaceKey: optional(r.Namespace), Revision: optional(r.Revision), LastRevision: optional(r.Last),
		Text: r.String(),
	}
}

// optional returns a pointer to the value, or nil if it is zero.
func optional[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// recorded converts an object of a change record, without the marks of its stored form.
func recorded(text json.RawMessage) *structpb.Struct {
	object := Object(text)
	unmark(object)
	for _, c := range object.GetFields()["constraints"].GetListValue().GetValues() {
		unmark(c.GetStructValue())
	}
	return object
}

// unmark removes the mark of the type, if the object has one.
func unmark(object *structpb.Struct) {
	if kind, text := object.GetFields()["type"].GetKind().(*structpb.Value_StringValue); text {
		kind.StringValue, _, _ = strings.Cut(kind.StringValue, "+")
	}
}

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
