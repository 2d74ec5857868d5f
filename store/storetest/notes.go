package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// noted runs one update with the message and the reason.
func noted(
	t *testing.T, s service.Store, namespace, actor, message string, reason change.Reason, fn func(ctx context.Context, tx service.Tx) error,
) {
	t.Helper()
	w := service.Write{By: service.Caller{Actor: change.Actor{ID: actor}}, Message: message, Reason: reason}
	_, err := s.Update(t.Context(), namespace, w, fn)
	mustSucceed(t, err)
}

// All records of a write have its message and its reason, those of other writes have none.
func testNotes(t *testing.T, s service.Store) {
	const message = `Grüße 🎈 "<%&> ' \`
	for i, test := range []struct {
		message string
		reason  change.Reason
	}{
		{"", change.Reason{}},
		{message, change.Reason{}},
		{"", change.ImportReason()},
		{strings.Repeat("🎈", service.MaxMessageLength), change.PromotionReason("staging", 412)},
		{"", change.UndoReason(3, 5)},
	} {
		noted(t, s, defaultNamespace, "a", test.message, test.reason, putObjects(newFlag(fmt.Sprint(i)), newSegment(fmt.Sprint(i))))
		got, err := s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, Limit: 2})
		if err != nil || len(got) != 2 {
			t.Fatalf("got %v, %v", got, err)
		}
		for _, c := range got {
			if c.Revision != int64(i)+2 || c.Message != test.message || c.Reason != test.reason {
				t.Errorf("revision %d: got message %q and reason %+v of revision %d, want %q and %+v",
					i+2, c.Message, c.Reason, c.Revision, test.message, test.reason)
			}
		}
	}
	w := service.Write{Message: message}
	mustSucceed(t, s.UpdateAuthentications(t.Context(), w, putTokens(newAuthentication("a"))))
	got, err := s.Changes(t.Context(), change.Query{Kind: change.KindAuthentication, Limit: 5})
	if err != nil || len(got) != 1 || got[0].Message != message || got[0].Namespace != "" {
		t.Errorf("authentication: got %+v, %v", got, err)
	}

	// An update that stores nothing leaves no note for the next one.
	noted(t, s, defaultNamespace, "a", "nothing", change.ImportReason(), putObjects(newFlag("0")))
	putFlags(t, s, defaultNamespace, newFlag("next"))
	if got := allChanges(t, s, change.Query{Namespace: defaultNamespace, Key: "next"}); len(got) != 1 || got[0].Message != "" || got[0].Reason != (change.Reason{}) {
		t.Errorf("after an update that stored nothing: got %+v", got)
	}
}

// searchAll returns what all pages of a search have found, newest first, and how many pages
// there were.
func searchAll(t *testing.T, s service.Store, search change.Search) (found []*change.Record, pages int) {
	t.Helper()
	for {
		page, next, err := s.SearchChanges(t.Context(), search)
		mustSucceed(t, err)
		if len(page) > search.Limit {
			t.Fatalf("got %d records, the limit was %d", len(page), search.Limit)
		}
		found, pages = append(found, page...), pages+1
		if next == (guidon.Position{}) {
			return found, pages
		}
		if pages > 1000 {
			t.Fatalf("the search does not end; it is at %+v", next)
		}
		search.Before = next
	}
}

func testChangeSearch(t *testing.T, s service.Store) {
	createNamespace(t, s, "shop")
	put := func(actor, message string, reason change.Reason, keys ...string) {
		t.Helper()
		noted(t, s, "shop", actor, message, reason, func(ctx context.Context, tx service.Tx) error {
			var errs []error
			for _, key := range keys {
				f := newFlag(key)
				f.Description = fmt.Sprint(message, reason, actor)
				errs = append(errs, tx.PutFlag(ctx, f))
			}
			return errors.Join(append(errs, tx.PutSegment(ctx, newSegment(keys[0])))...)
		})
	}
	put("ann", "Summer sale, part one", change.Reason{}, "a")
	put("bob", "", change.Reason{}, "a", "b")
	put("ann", "summer SALE is over", change.ImportReason(), "a", "b", "c")
	put("bob", "100% off_", change.RestoreReason(2), "b")
	middle := time.Now()
	put("bob", "Summer again", change.UndoReason(5, 5), "c", "a")
	noted(t, s, defaultNamespace, "ann", "summer elsewhere", change.Reason{}, putObjects(newFlag("a")))
	const (
		a2, s2     = "2.0 create flag a", "2.1 create segment a"
		a4, b4, c4 = "4.0 update flag a", "4.1 update flag b", "4.2 create flag c"
		b5, s5     = "5.0 update flag b", "5.1 create segment b"
		c6, a6, s6 = "6.0 update flag c", "6.1 update flag a", "6.2 create segment c"
	)
	for _, test := range []struct {
		name   string
		search change.Search
		want   []string // oldest first
	}{
		{"text, whatever the case", change.Search{Message: "sumMER"}, []string{a2, s2, a4, b4, c4, c6, a6, s6}},
		{"text with spaces", change.Search{Message: "sale is"}, []string{a4, b4, c4}},
		{"wildcards are characters", change.Search{Message: "0% OFF_"}, []string{b5, s5}},
		{"wildcards match nothing else", change.Search{Message: "s%r"}, nil},
		{"reason", change.Search{Reason: change.ReasonImport}, []string{a4, b4, c4}},
		{"reason without records", change.Search{Reason: change.ReasonPromotion}, nil},
		{"reason and text", change.Search{Reason: change.ReasonUndo, Message: "again"}, []string{c6, a6, s6}},
		{"another reason and text", change.Search{Reason: change.ReasonUndo, Message: "sale"}, nil},
		{"kind", change.Search{Query: change.Query{Kind: change.KindSegment}, Message: "summer"}, []string{s2, s6}},
		{"key", change.Search{Query: change.Query{Key: "a", Kind: change.KindFlag}, Message: "summer"}, []string{a2, a4, a6}},
		{"key and reason", change.Search{Query: change.Query{Key: "b"}, Reason: change.ReasonRestore}, []string{b5, s5}},
		{"actor", change.Search{Query: change.Query{Actor: "bob"}, Message: "summer"}, []string{c6, a6, s6}},
		{"until", change.Search{Query: change.Query{Until: &middle}, Message: "summer"}, []string{a2, s2, a4, b4, c4}},
		{"since", change.Search{Query: change.Query{Since: &middle}, Message: "summer"}, []string{c6, a6, s6}},
		{"revisions", change.Search{Query: change.Query{First: 4, Last: 5}, Message: "s"}, []string{a4, b4, c4}},
		{"revisions and reason", change.Search{Query: change.Query{First: 3, Last: 5}, Reason: change.ReasonRestore}, []string{b5, s5}},
		{"revisions of an object", change.Search{Query: change.Query{Key: "a", Last: 4}, Message: "summer"}, []string{a2, s2, a4}},
		{"before the first of a revision",
			change.Search{Query: change.Query{Before: guidon.Position{Revision: 6}}, Message: "summer"}, []string{a2, s2, a4, b4, c4}},
		{"before", change.Search{Query: change.Query{Before: guidon.Position{Revision: 6, Sequence: 1}}, Message: "summer"},
			[]string{a2, s2, a4, b4, c4, c6}},
		{"unknown key", change.Search{Query: change.Query{Key: "nope"}, Message: "summer"}, nil},
		{"impossible key", change.Search{Query: change.Query{Key: "\x00"}, Message: "summer"}, nil},
	} {
		test.search.Namespace = "shop"
		slices.Reverse(test.want)
		for limit := 1; limit <= 9; limit++ {
			test.search.Limit = limit
			found, _ := searchAll(t, s, test.search)
			wantEqual(t, fmt.Sprintf("%s, limit %d", test.name, limit), test.want, brief(found), cmpopts.EquateEmpty())
		}
	}
	if _, _, err := s.SearchChanges(t.Context(), change.Search{Query: change.Query{Namespace: "shop"}, Message: "a"}); err == nil {
		t.Error("a search without a limit was accepted")
	}
}

// A search that finds nothing for long returns before its end, and can be continued. A
// revision of which it has examined only a part is found once.
func testChangeSearchBounded(t *testing.T, s service.Store) {
	put := func(message string, count int) {
		t.Helper()
		noted(t, s, defaultNamespace, "bulk", message, change.Reason{}, putAll(numberedFlags(message+"-", count)))
	}
	put("first", 3)
	put("", 1998) // a search examines 2,000 records
	search := change.Search{Query: change.Query{Namespace: defaultNamespace, Actor: "bulk", Limit: 5}, Message: "nothing"}
	page, next, err := s.SearchChanges(t.Context(), search)
	if err != nil || len(page) != 0 || next != (guidon.Position{Revision: 2, Sequence: 1}) {
		t.Errorf("first page: got %q, next %+v and %v; want nothing yet", brief(page), next, err)
	}
	if found, pages := searchAll(t, s, search); len(found) != 0 || pages != 2 {
		t.Errorf("got %q on %d pages, want nothing on 2", brief(found), pages)
	}
	search.Message = "first"
	found, pages := searchAll(t, s, search)
	if diff := cmp.Diff([]string{"2.2 create flag first-2", "2.1 create flag first-1", "2.0 create flag first-0"}, brief(found)); diff != "" || pages != 2 {
		t.Errorf("got %d pages, want 2 (-want +got):\n%s", pages, diff)
	}
}

// The latest change of an object is found by its key and kind, whatever else has changed.
func testLatestChanges(t *testing.T, s service.Store) {
	put := func(message string, fn func(ctx context.Context, tx service.Tx) error) {
		t.Helper()
		noted(t, s, defaultNamespace, "ann", message, change.ImportReason(), fn)
	}
	put("first", putObjects(newSegment("a"), newFlag("a"), newFlag("b"), newFlag("gone"), newFlag("again")))
	put("second", inOneUpdate(putObjects(renamed("a", "second")), deleteFlags("gone")))
	put("third", inOneUpdate(putObjects(renamed("a", "second")), // which changes nothing
		deleteFlags("again"), putObjects(newFlag("again"))))
	createNamespace(t, s, "shop")
	putFlags(t, s, "shop", newFlag("b"))

	many := []string{"a", "b"}
	for i := range 1000 {
		many = append(many, fmt.Sprintf("none-%d", i))
	}
	for _, test := range []struct {
		name      string
		namespace string
		kind      change.Kind
		keys      []string
		want      []string // by key
	}{
		{"flags", defaultNamespace, change.KindFlag, []string{"b", "again", "a", "gone", "nope", "\x00"},
			[]string{"3.0 update flag a second", "4.1 create flag again third", "2.2 create flag b first"}},
		{"a segment with the key of a flag", defaultNamespace, change.KindSegment, []string{"a", "b"}, []string{"2.0 create segment a first"}},
		{"many keys", defaultNamespace, change.KindFlag, many, []string{"3.0 update flag a second", "2.2 create flag b first"}},
		{"another namespace", "shop", change.KindFlag, []string{"a", "b"}, []string{"2.0 create flag b "}},
		{"unknown namespace", "nope", change.KindFlag, []string{"a"}, nil},
		{"no keys", defaultNamespace, change.KindFlag, nil, nil},
	} {
		records, err := s.LatestChanges(t.Context(), test.namespace, test.kind, test.keys)
		mustSucceed(t, err)
		slices.SortFunc(records, func(a, b *change.Record) int { return strings.Compare(a.Key, b.Key) })
		var got []string
		for i, line := range brief(records) {
			got = append(got, line+" "+records[i].Message)
			if c := records[i]; (c.Before != nil) != (c.Action != change.ActionCreate) || c.After == nil || c.At.IsZero() {
				t.Errorf("%s: got %+v, want a time and the bodies", test.name, c)
			}
		}
		wantEqual(t, test.name, test.want, got)
	}
	if _, err := s.LatestChanges(t.Context(), defaultNamespace, change.KindBinding, []string{"a"}); err == nil {
		t.Error("bindings: got no error")
	}
}
