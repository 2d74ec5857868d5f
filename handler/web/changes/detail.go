package changes

import (
	"encoding/json"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// maxCompared limits the objects that are compared, in bytes before and after together.
const maxCompared = 1 << 20

// detail has the differences that a change made to one object.
type detail struct {
	Differences []review.Difference
	More        int // differences that are not listed
	Diff        *review.Diff
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
		d.Differences, d.More = review.DifferencesOf(differences)
	}
	if documentErr == nil && (before != nil || after != nil) { // otherwise it has the form of another release
		if text, err := document.DiffObjects("before", before, "after", after); err == nil {
			d.Diff = review.ParseDiff(text)
		}
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

// fieldDiff is the field of the address with how diffs are shown, which is remembered.
const fieldDiff = "diff"

// readDiff returns how the visitor wants to see diffs.
func readDiff(v *page.Visit) page.DiffView {
	asked := page.DiffView(v.Query().Get(fieldDiff))
	if asked.Valid() && asked != v.Preferences.Diff {
		p := v.Preferences
		p.Diff = asked
		v.SetPreferences(p)
	}
	return v.Preferences.Diff
}

// diffAddress returns the address of the page with diffs in the view.
func diffAddress(v *page.Visit, view page.DiffView) string {
	address := *v.Request.URL
	query := v.Query()
	query.Set(fieldDiff, string(view))
	address.RawQuery = query.Encode()
	return v.Site.Path(address.RequestURI())
}
