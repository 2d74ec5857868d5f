package changes

import (
	"bytes"
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Limits of the details of one object.
const (
	maxCompared    = 1 << 20 // bytes before and after together
	maxDifferences = 100
)

// detail has the differences that a change made to one object.
type detail struct {
	Differences []difference
	More        int // differences that are not listed
	Diff        *diff
	TooLarge    bool
}

// detailOf returns the details of a change. It compares the states in its record, so that it
// needs no earlier state.
func detailOf(c *guidonv1.Change) detail {
	if c.Name != nil { // it stands for the objects
		return detail{TooLarge: true}
	}
	r := recordOf(c)
	var d detail
	differences, err := r.Differences()
	before, after, documentErr := documentsOf(r)
	if err == nil {
		d.Differences, d.More = recordedDifferences(differences)
	}
	if documentErr == nil && (before != nil || after != nil) { // otherwise it has the form of another release
		d.Diff = diffOf(before, after)
	}
	return d
}

// recordOf returns the record in a message.
func recordOf(c *guidonv1.Change) *change.Record {
	return &change.Record{
		Kind: change.Kind(c.GetKind()), Key: c.GetKey(), Action: change.Action(c.GetAction()),
		Before: body(c.GetBefore()), After: body(c.GetAfter()),
	}
}

// body returns the JSON form of an object, or nil if there is none.
func body(object *structpb.Struct) json.RawMessage {
	if object == nil {
		return nil
	}
	text, err := json.Marshal(object.AsMap())
	if err != nil {
		return nil
	}
	return text
}

// diffOf returns the difference of two documents, or nil if there is none.
func diffOf(before, after *service.Document) *diff {
	text, err := document.DiffObjects("before", before, "after", after)
	if err != nil {
		return nil
	}
	return parseDiff(text)
}

// documentsOf returns documents with the object of a record before and after, which are nil
// if it is in no document.
func documentsOf(r *change.Record) (before, after *service.Document, err error) {
	switch r.Kind {
	case change.KindFlag:
		return documents(r, service.FlagDocument)
	case change.KindSegment:
		return documents(r, service.SegmentDocument)
	}
	return nil, nil, nil
}

// documents returns documents with the object before and after.
func documents[T any](r *change.Record, make func(*T) *service.Document) (before, after *service.Document, err error) {
	one := func(text json.RawMessage) *service.Document {
		if text == nil || err != nil {
			return nil
		}
		object := new(T)
		if err = json.Unmarshal(text, object); err != nil {
			return nil
		}
		return make(object)
	}
	before, after = one(r.Before), one(r.After)
	return before, after, err
}

// difference is one difference in words. If Was or Now is set, they are the values before
// and after. Text is then the name of the value within At, or "" if it is At itself.
type difference struct {
	At   string // the part of the object, such as "Rule 2", or ""
	Text string
	Was  string
	Now  string
}

// Changed reports whether the difference has values.
func (d difference) Changed() bool { return d.Was != "" || d.Now != "" }

// maxValue limits the values that are shown, in bytes.
const maxValue = 300

// recordedDifferences returns the differences of a record.
func recordedDifferences(all []change.Difference) (shown []difference, more int) {
	for _, d := range all[:min(len(all), maxDifferences)] {
		shown = append(shown, newDifference(d.Wording, d.Before, d.After))
	}
	return shown, len(all) - len(shown)
}

// plannedDifferences returns the differences of a change in a plan.
func plannedDifferences(c *guidonv1.PlannedChange) (shown []difference, more int) {
	all := c.GetDifferences()
	for _, d := range all[:min(len(all), maxDifferences)] {
		w := d.GetWording()
		shown = append(shown, newDifference(
			change.Wording{Parts: w.GetParts(), Before: w.GetBefore(), After: w.GetAfter(), What: w.GetWhat()},
			valueText(d.GetBefore()), valueText(d.GetAfter()),
		))
	}
	return shown, len(all) - len(shown)
}

// newDifference returns a difference for people. Values that are too long for its words
// are shown shortened.
func newDifference(w change.Wording, before, after json.RawMessage) difference {
	d := difference{Was: page.Printable(w.Before, maxValue), Now: page.Printable(w.After, maxValue)}
	if !d.Changed() && len(before) > 0 && len(after) > 0 {
		d.Was, d.Now = shortValue(before), shortValue(after)
	}
	if !d.Changed() {
		d.Text = page.Printable(w.What, maxMessage)
	}
	if len(w.Parts) > 0 {
		d.At = page.Printable(page.Capital(w.Parts[0]), maxMessage)
		d.Text = strings.TrimSpace(page.Printable(strings.Join(w.Parts[1:], ": "), maxMessage) + " " + d.Text)
	}
	return d
}

// shortValue returns a value as text of a limited length.
func shortValue(value json.RawMessage) string {
	text := page.Printable(string(value), maxValue)
	if len(text) < len(value) && len(value) > maxValue {
		return text + "…"
	}
	return text
}

// valueText returns the JSON form of a value, or nil if there is none.
func valueText(value *structpb.Value) json.RawMessage {
	if value == nil {
		return nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // it is shown to people
	if err := encoder.Encode(value.AsInterface()); err != nil {
		return nil
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
