package changes

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// Fields of the filter of the changes of all namespaces, besides those of a list.
const (
	fieldNamespace = "namespace"
	fieldEvent     = "event" // may have several values
)

// everywhere is the list of the changes of all namespaces.
type everywhere struct {
	filter
	Events  []string
	Groups  []*group
	Older   string // the address of the next page, or ""
	request *guidonv1.ListAllChangesRequest
}

// listEverywhere is the page of the changes of all namespaces.
func listEverywhere(v *page.Visit) error {
	l := readEverywhere(v)
	status := http.StatusOK
	if len(l.problems) > 0 {
		status = http.StatusUnprocessableEntity
	} else if err := l.read(v); err != nil {
		return err
	}
	return v.Reply(status, page.Page{Title: "Changes of all namespaces", Place: page.PlaceChanges, Main: everywhereMain(v, l)})
}

// readEverywhere reads the filter in the address.
func readEverywhere(v *page.Visit) *everywhere {
	l := &everywhere{filter: filter{values: make(map[string]string)}, Events: v.Query()[fieldEvent]}
	l.readValues(v, fieldNamespace, fieldActor, fieldSince, fieldUntil)
	since, until := l.readTimes(v)
	for _, event := range l.Events {
		if !slices.Contains(change.Events, change.Event(event)) {
			l.problems.Add(fieldEvent, "There are these events: turned-off, turned-on, targeting, created, deleted and other.")
		}
	}
	l.request = &guidonv1.ListAllChangesRequest{
		NamespaceKey: l.values[fieldNamespace], Actor: l.values[fieldActor], Since: since, Until: until, Events: l.Events,
		Limit: pageSize, PageToken: v.Query().Get(fieldCursor), MaxObjectBytes: namesOnly,
	}
	return l
}

func (l *everywhere) read(v *page.Visit) error {
	answer, err := page.ListAllChanges.Run(v, l.request)
	if err != nil {
		return err
	}
	l.Groups = groupsOf(answer.GetChanges())
	if next := answer.GetNextPageToken(); next != "" {
		l.Older = l.address(v, fieldCursor, next)
		if n := len(l.Groups); n > 0 && len(l.Groups[n-1].Records) > 1 {
			l.Groups[n-1].More = true // perhaps
		}
	}
	return nil
}

// address returns the address of the list with another value of a field.
func (l *everywhere) address(v *page.Visit, field, value string) string {
	query := url.Values{}
	for name, old := range l.values {
		query.Set(name, old)
	}
	if len(l.Events) > 0 {
		query[fieldEvent] = l.Events
	}
	query.Set(field, value)
	return v.To("changes") + "?" + query.Encode()
}

// Fixed returns the address of the list with the time since when as such, for others who open it
// later: if the filter says how long ago, or nothing, for the last hour.
func (l *everywhere) Fixed(v *page.Visit) string {
	since := v.Site.Now().Add(-time.Hour)
	if l.request.Since != nil {
		since = l.request.GetSince().AsTime()
	}
	return l.address(v, fieldSince, since.UTC().Format(minuteLayout))
}

// Some reports whether the filter restricts anything.
func (l *everywhere) Some() bool { return l.filter.Some() || len(l.Events) > 0 }

// eventOptions are the events in words, in the order of the filter.
var eventOptions = part.Options(
	string(change.EventTurnedOff), "Turned off", string(change.EventTurnedOn), "Turned on", string(change.EventTargeting), "Targeting",
	string(change.EventCreated), "Created", string(change.EventDeleted), "Deleted", string(change.EventOther), "Other",
)

// namespaceName returns the name of a namespace, or its key if it has been deleted.
func namespaceName(v *page.Visit, key string) string {
	if n := v.NamespaceWith(key); n != nil {
		return page.NamespaceName(n)
	}
	return key
}
