package changes

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// The fields of the filter, in the address and as the ids of elements.
const (
	fieldKind    = "kind"
	fieldKey     = "key"
	fieldActor   = "actor"
	fieldSince   = "since"
	fieldUntil   = "until"
	fieldMessage = "message"
	fieldReason  = "reason"
	fieldBefore  = "before" // a revision: only changes before it
	fieldCursor  = "cursor" // where a search continues that has found nothing yet
	fieldFormat  = "format" // of an export

	// Only of the changes of all namespaces.
	fieldNamespace = "namespace"
	fieldEvent     = "event" // may have several values
)

// The fields that restrict the list of a namespace, in the order of their chips, and that of all namespaces.
var (
	filterFields     = []string{fieldKind, fieldKey, fieldActor, fieldReason, fieldMessage, fieldSince, fieldUntil}
	everywhereFields = []string{fieldNamespace, fieldActor, fieldSince, fieldUntil}
)

// filter is which changes are listed.
type filter struct {
	values   map[string]string // by field, as they were entered; none is empty
	Events   []string          // of the changes of all namespaces
	problems part.Problems
	request  *guidonv1.ListChangesRequest
}

// maxFilter limits the values of the filter, in bytes.
const maxFilter = 4096

// readFilter reads the filter in the address.
func readFilter(v *page.Visit) *filter {
	f := &filter{values: make(map[string]string), request: &guidonv1.ListChangesRequest{NamespaceKey: v.Key()}}
	fields := filterFields
	if v.Namespace == nil {
		fields, f.Events = everywhereFields, v.Query()[fieldEvent]
	}
	f.readValues(v, fields)
	f.readWords()
	f.readTimes(v)
	f.readPlace(v)
	return f
}

// readValues reads fields of the address.
func (f *filter) readValues(v *page.Visit, fields []string) {
	for _, field := range fields {
		value := strings.TrimSpace(v.Query().Get(field))
		switch {
		case value == "":
			continue
		case len(value) > maxFilter || !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			f.problems.Add(field, "This is too long, or has characters that no change can have.")
			continue
		}
		f.values[field] = value
	}
}

// readTimes reads since when and until when changes are listed.
func (f *filter) readTimes(v *page.Visit) {
	since, until := f.readTime(v, fieldSince), f.readTime(v, fieldUntil)
	if f.problems == nil && since != nil && until != nil && !since.AsTime().Before(until.AsTime()) {
		f.problems.Add(fieldUntil, "This is not after the beginning, so no change can match.")
	}
	f.request.Since, f.request.Until = since, until
}

// readWords reads the fields that are no times.
func (f *filter) readWords() {
	r := f.request
	r.Kind, r.Key, r.Actor, r.Message, r.Reason =
		f.values[fieldKind], f.values[fieldKey], f.values[fieldActor], f.values[fieldMessage], f.values[fieldReason]
	if r.Kind != "" && part.TextOf(kindOptions, r.Kind) == "" {
		f.problems.Add(fieldKind, "There are changes of flags, of segments and of the namespace: flag, segment or namespace.")
	}
	if r.Reason != "" && !change.ReasonKind(r.Reason).Known() {
		f.problems.Add(fieldReason, "The reason of a change is import, promotion, restore or undo.")
	}
	f.problems.Add(fieldMessage, page.TooLong(r.Message, service.MaxMessageLength))
	for _, event := range f.Events {
		if part.TextOf(eventOptions, event) == "" {
			f.problems.Add(fieldEvent, "There are these events: turned-off, turned-on, targeting, created, deleted and other.")
		}
	}
}

// minuteLayout is the form of times in links.
const minuteLayout = "2006-01-02T15:04Z07:00"

// readTime reads a time: how long ago, such as 36h or 7d, or a day, or a moment.
func (f *filter) readTime(v *page.Visit, field string) *timestamppb.Timestamp {
	text := f.values[field]
	if text == "" {
		return nil
	}
	if ago, ok := parseAgo(text); ok {
		return timestamppb.New(v.Site.Now().Add(-ago))
	}
	if at, err := time.Parse(minuteLayout, text); err == nil {
		return timestamppb.New(at)
	}
	if at, ok := page.ParseTime(text, v.Location()); ok {
		return timestamppb.New(at)
	}
	f.problems.Add(field, "Write 2026-12-01 or 2026-12-01T18:00, or how long ago: 36h, 7d.")
	return nil
}

// maxAgo limits how long ago a time of the filter may be, in hours.
const maxAgo = 100 * 366 * 24

// parseAgo parses how long ago something was: a number of hours or days.
func parseAgo(text string) (time.Duration, bool) {
	if len(text) < 2 {
		return 0, false
	}
	n, err := strconv.Atoi(text[:len(text)-1])
	switch unit := text[len(text)-1]; {
	case err != nil || n < 0 || n > maxAgo:
		return 0, false
	case unit == 'h':
		return time.Duration(n) * time.Hour, true
	case unit == 'd' && n <= maxAgo/24:
		return time.Duration(n) * 24 * time.Hour, true
	}
	return 0, false
}

// readPlace reads where the page starts.
func (f *filter) readPlace(v *page.Visit) {
	if before, err := strconv.ParseInt(v.Query().Get(fieldBefore), 10, 64); err == nil && before > 1 {
		f.request.LastRevision = before - 1
	}
	f.request.PageToken = v.Query().Get(fieldCursor)
}

// First reports whether the page is that of the newest changes.
func (f *filter) First() bool {
	return f.request.GetLastRevision() == 0 && f.request.GetPageToken() == ""
}

// Some reports whether the filter restricts anything.
func (f *filter) Some() bool { return len(f.values) > 0 || len(f.Events) > 0 }

// Value returns the value of a field as it was entered.
func (f *filter) Value(field string) string { return f.values[field] }

// With returns the address of the list with another value of a field, from its newest
// change on; "" removes the field.
func (f *filter) With(v *page.Visit, field, value string) string {
	query := make(url.Values)
	for name, old := range f.values {
		query.Set(name, old)
	}
	if len(f.Events) > 0 {
		query[fieldEvent] = f.Events
	}
	query.Del(field)
	if value != "" {
		query.Set(field, value)
	}
	return page.WithQuery(listAddress(v), query)
}

// listAddress returns the address of the list without a filter.
func listAddress(v *page.Visit) string {
	if v.Namespace == nil {
		return v.To("changes")
	}
	return v.In("changes")
}

// Fixed returns the address of the list with the time since when as such, for others who open it
// later: if the filter says how long ago, or nothing, for the last hour.
func (f *filter) Fixed(v *page.Visit) string {
	since := v.Site.Now().Add(-time.Hour)
	if f.request.Since != nil {
		since = f.request.GetSince().AsTime()
	}
	return f.With(v, fieldSince, since.UTC().Format(minuteLayout))
}

// Hidden returns the fields that the form does not show.
func (f *filter) Hidden() (pairs [][2]string) {
	for _, field := range []string{fieldKind, fieldActor, fieldReason} {
		if value := f.values[field]; value != "" {
			pairs = append(pairs, [2]string{field, value})
		}
	}
	return pairs
}

// chip is an active filter.
type chip struct{ Text, Remove string }

// Chips returns the active filters in words. actors are the names of actors by their ids,
// as far as they are known.
func (f *filter) Chips(v *page.Visit, actors map[string]page.Actor) (chips []chip) {
	for _, field := range filterFields {
		value := f.values[field]
		if value == "" {
			continue
		}
		text := page.Printable(value, maxShownName)
		switch field {
		case fieldKind:
			text = cmp.Or(part.TextOf(kindOptions, value), text)
		case fieldKey:
			text = "Key " + text
		case fieldActor:
			if a, ok := actors[value]; ok {
				text = a.String()
			}
			text = "By " + text
		case fieldReason:
			text = cmp.Or(part.TextOf(reasonOptions, value), text)
		case fieldMessage:
			text = "Message has “" + text + "”"
		case fieldSince:
			text = timeChip(v, "Since ", text, f.request.GetSince())
		case fieldUntil:
			text = timeChip(v, "Before ", text, f.request.GetUntil())
		}
		chips = append(chips, chip{text, f.With(v, field, "")})
	}
	return chips
}

func timeChip(v *page.Visit, what, text string, at *timestamppb.Timestamp) string {
	if ago := agoLabels[text]; ago != "" {
		return what + ago
	}
	if at == nil {
		return what + text
	}
	return what + at.AsTime().In(v.Location()).Format("2 Jan 2006, 15:04")
}

// The kinds of objects whose changes are listed, the reasons of changes, and what happened.
var (
	kindOptions   = part.Options(flagKind.name, "Flags", segmentKind.name, "Segments", string(change.KindNamespace), "The namespace")
	reasonOptions = part.Options(
		string(change.ReasonImport), "Imports", string(change.ReasonPromotion), "Promotions", string(change.ReasonRestore), "Restores",
		string(change.ReasonUndo), "Undone changes",
	)
	eventOptions = part.Options(
		string(change.EventTurnedOff), "Turned off", string(change.EventTurnedOn), "Turned on", string(change.EventTargeting), "Targeting",
		string(change.EventCreated), "Created", string(change.EventDeleted), "Deleted", string(change.EventOther), "Other",
	)
)

// The periods of the menu, and what its chips call them.
var (
	periodOptions = part.Options("1h", "Last hour", "24h", "Last 24 hours", "7d", "Last 7 days", "30d", "Last 30 days")
	agoLabels     = map[string]string{"1h": "an hour ago", "24h": "24 hours ago", "7d": "7 days ago", "30d": "30 days ago"}
)

// menu returns the links of the menu for a field.
func (f *filter) menu(v *page.Visit, field, all string, options []part.Option) []part.Link {
	links := []part.Link{{Text: all, Address: f.With(v, field, ""), Current: f.values[field] == ""}}
	for _, o := range options {
		links = append(links, part.Link{Text: o.Text, Address: f.With(v, field, o.Value), Current: f.values[field] == o.Value})
	}
	return links
}

// actorOptions returns the options of the menu of actors: the visitor, and those of the listed changes.
func actorOptions(v *page.Visit, seen []page.Actor) []part.Option {
	options := part.Options(v.Visitor.ActorID(), "Me")
	for _, a := range seen {
		if a.ID != v.Visitor.ActorID() {
			options = append(options, part.Option{Value: a.ID, Text: a.String()})
		}
	}
	return options
}
