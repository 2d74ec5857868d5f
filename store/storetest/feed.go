package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// feedAll returns the places of what all pages of a feed have, newest first, and how many pages
// there were.
func feedAll(t *testing.T, s service.Store, feed change.Feed) (found []change.Place, pages int) {
	t.Helper()
	for {
		records, next, err := s.AllChanges(t.Context(), feed)
		mustSucceed(t, err)
		if len(records) > feed.Limit {
			t.Fatalf("a page has %d records, limit %d", len(records), feed.Limit)
		}
		pages++
		for _, c := range records {
			found = append(found, c.Place())
		}
		if next == (change.Place{}) {
			return found, pages
		}
		if feed.Before != (change.Place{}) && comparePlaces(next, feed.Before) >= 0 {
			t.Fatalf("the page before %+v ends at %+v", feed.Before, next)
		}
		if feed.Visible != nil && next.Namespace != "" && !feed.Visible(next.Namespace) {
			t.Errorf("the page before %+v ends at %+v, in a namespace that is not visible", feed.Before, next)
		}
		feed.Before = next
	}
}

func comparePlaces(a, b change.Place) int {
	for _, c := range []int{int(a.At - b.At), strings.Compare(a.Namespace, b.Namespace), int(a.Revision - b.Revision), int(a.Sequence - b.Sequence)} {
		if c != 0 {
			return c
		}
	}
	return 0
}

// A feed has the records of all namespaces in order of time, those that its filters select, on
// pages of any size.
func testFeed(t *testing.T, s service.Store) {
	random := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- a test
	for i := range 60 {
		namespace, actor := fmt.Sprint("n", i%5), fmt.Sprint("a", random.IntN(3))
		noted(t, s, namespace, actor, "", change.Reason{}, func(ctx context.Context, tx service.Tx) error {
			if i < 5 {
				return tx.PutNamespace(ctx, &guidon.Namespace{Key: namespace, Name: namespace})
			}
			f := newFlag(fmt.Sprint("f", i%3))
			f.Enabled, f.Name = random.IntN(2) == 0, fmt.Sprint(random.IntN(2))
			err := tx.PutFlag(ctx, f)
			if random.IntN(8) == 0 {
				err = errors.Join(err, tx.DeleteFlag(ctx, f.Key))
			}
			return errors.Join(err, tx.PutSegment(ctx, newSegment(fmt.Sprint("s", i))))
		})
		if i%10 == 0 {
			mustSucceed(t, s.UpdateAuthentications(t.Context(), service.Write{By: service.Caller{Actor: change.Actor{ID: actor}}}, putTokens(newAuthentication(fmt.Sprint(i)))))
		}
	}
	noted(t, s, "n4", "a0", "", change.Reason{}, func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })

	var all []*change.Record
	for _, namespace := range []string{defaultNamespace, "n0", "n1", "n2", "n3", "n4"} {
		all = append(all, allChanges(t, s, change.Query{Namespace: namespace})...)
	}
	slices.SortFunc(all, func(a, b *change.Record) int { return comparePlaces(b.Place(), a.Place()) })
	middle := all[len(all)/2].At
	some := func(namespace string) bool { return namespace == "n1" || namespace == "n4" }
	for _, test := range []struct {
		name string
		feed change.Feed
	}{
		{"all", change.Feed{}},
		{"visible", change.Feed{Visible: some}},
		{"none visible", change.Feed{Visible: func(string) bool { return false }}},
		{"namespace", change.Feed{In: "n2"}},
		{"deleted namespace", change.Feed{In: "n4", Events: []change.Event{change.EventDeleted}}},
		{"no namespace", change.Feed{In: "nope"}},
		{"authentications", change.Feed{In: service.AuthenticationsKey}},
		{"actor", change.Feed{Actor: "a1"}},
		{"actor in visible", change.Feed{Actor: "a1", Visible: some}},
		{"actor in namespace", change.Feed{Actor: "a1", In: "n0"}},
		{"event", change.Feed{Events: []change.Event{change.EventTargeting}}},
		{"events", change.Feed{Events: []change.Event{change.EventTurnedOff, change.EventTurnedOn, change.EventOther}}},
		{"events of visible", change.Feed{Events: []change.Event{change.EventCreated}, Visible: some}},
		{"events of an actor", change.Feed{Events: []change.Event{change.EventCreated}, Actor: "a2"}},
		{"since", change.Feed{Since: &middle}},
		{"until", change.Feed{Until: &middle}},
		{"between", change.Feed{Since: &middle, Until: new(middle.Add(time.Microsecond)), Events: change.Events}},
	} {
		var want []change.Place
		for _, c := range all {
			f := test.feed
			if (f.Visible == nil || f.Visible(c.Namespace)) && (f.In == "" || f.In == c.Namespace) && (f.Actor == "" || f.Actor == c.Actor.ID) &&
				(len(f.Events) == 0 || slices.Contains(f.Events, c.Event())) &&
				(f.Since == nil || !c.At.Before(*f.Since)) && (f.Until == nil || c.At.Before(*f.Until)) {
				want = append(want, c.Place())
			}
		}
		for _, limit := range []int{1, 3, 7, 100, 500} {
			test.feed.Limit = limit
			got, pages := feedAll(t, s, test.feed)
			wantEqual(t, fmt.Sprintf("%s, limit %d", test.name, limit), want, got)
			if most := len(want)/limit + 2; pages > most {
				t.Errorf("%s, limit %d: %d pages, want at most %d", test.name, limit, pages, most)
			}
		}
	}
}

// A page examines a limited number of records, and the next one goes on after them.
func testFeedBounded(t *testing.T, s service.Store) {
	noted(t, s, defaultNamespace, "rare", "", change.Reason{}, putObjects(newFlag("old")))
	noted(t, s, defaultNamespace, "often", "", change.Reason{}, putAll(numberedFlags("new-", 2500)))
	want := allChanges(t, s, change.Query{Namespace: defaultNamespace, Actor: "rare"})[0].Place()
	found, pages := feedAll(t, s, change.Feed{In: defaultNamespace, Actor: "rare", Limit: 10})
	if diff := cmp.Diff([]change.Place{want}, found); diff != "" || pages != 2 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}

	// Of namespaces that the caller may not read, not even the end of a page names one.
	for _, namespace := range []string{"a", "z"} {
		noted(t, s, namespace, "often", "", change.Reason{}, putObjects(&guidon.Namespace{Key: namespace, Name: namespace}))
	}
	noted(t, s, defaultNamespace, "often", "", change.Reason{}, putAll(numberedFlags("more-", 2500)))
	for namespace, want := range map[string]int{"a": 1, "z": 1, "nope": 0} {
		visible := func(key string) bool { return key == namespace }
		if found, _ := feedAll(t, s, change.Feed{Actor: "often", Visible: visible, Limit: 10}); len(found) != want {
			t.Errorf("got %+v of the actor in %q, want %d", found, namespace, want)
		}
	}
}
