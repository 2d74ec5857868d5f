package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

func testChangeFilters(t *testing.T, s service.Store) {
	createNamespace(t, s, "other")
	by := func(actor string, fn func(ctx context.Context, tx service.Tx) error) time.Time {
		var at time.Time
		_, err := s.Update(t.Context(), "other",
			service.Write{By: service.Caller{Actor: change.Actor{ID: actor}}}, func(ctx context.Context, tx service.Tx) error {
				at = tx.Now()
				return fn(ctx, tx)
			})
		mustSucceed(t, err)
		// The next update must have another time.
		for !time.Now().Truncate(time.Microsecond).After(at) {
		}
		return at
	}
	by("ann", putObjects(newFlag("x")))
	second := by("bob", putObjects(newSegment("x"), newFlag("X")))
	third := by("ann", deleteFlags("x"))

	const create, flagX, segmentX, flagUpper, deleteX = "1.0 create namespace other", "2.0 create flag x", "3.0 create segment x", "3.1 create flag X", "4.0 delete flag x"
	for _, c := range []struct {
		name  string
		query change.Query
		want  []string
	}{
		{"everything", change.Query{}, []string{create, flagX, segmentX, flagUpper, deleteX}},
		{"kind", change.Query{Kind: change.KindSegment}, []string{segmentX}},
		{"key of any kind", change.Query{Key: "x"}, []string{flagX, segmentX, deleteX}},
		{"kind and key", change.Query{Kind: change.KindFlag, Key: "x"}, []string{flagX, deleteX}},
		{"actor", change.Query{Actor: "ann"}, []string{flagX, deleteX}},
		{"since is inclusive", change.Query{Since: new(second)}, []string{segmentX, flagUpper, deleteX}},
		{"since, with higher precision than stored", change.Query{Since: new(second.Add(1))}, []string{deleteX}},
		{"until is exclusive", change.Query{Until: new(third)}, []string{create, flagX, segmentX, flagUpper}},
		{"since the zero time", change.Query{Since: new(time.Time{})}, []string{create, flagX, segmentX, flagUpper, deleteX}},
		{"until the zero time", change.Query{Until: new(time.Time{})}, nil},
		{"until, in another zone",
			change.Query{Until: new(third.Add(1).In(time.FixedZone("", 3600)))}, []string{create, flagX, segmentX, flagUpper, deleteX}},
		{"before is exclusive", change.Query{Before: guidon.Position{Revision: 3, Sequence: 1}}, []string{create, flagX, segmentX}},
		{"before the first of a revision", change.Query{Before: guidon.Position{Revision: 3}}, []string{create, flagX}},
		{"the first revision is inclusive", change.Query{First: 3}, []string{segmentX, flagUpper, deleteX}},
		{"the last revision is inclusive", change.Query{Last: 3}, []string{create, flagX, segmentX, flagUpper}},
		{"one revision", change.Query{First: 3, Last: 3}, []string{segmentX, flagUpper}},
		{"one revision, before", change.Query{First: 3, Last: 3, Before: guidon.Position{Revision: 3, Sequence: 1}}, []string{segmentX}},
		{"a revision to come", change.Query{First: 9}, nil},
		{"all filters together",
			change.Query{Kind: change.KindFlag, Key: "X", Actor: "bob", Since: new(second), Until: new(third)}, []string{flagUpper}},
		{"nothing", change.Query{Actor: "nobody"}, nil},
	} {
		c.query.Namespace, c.query.Limit = "other", 100
		got, err := s.Changes(t.Context(), c.query)
		mustSucceed(t, err)
		slices.Reverse(c.want)
		wantEqual(t, c.name, c.want, brief(got), cmpopts.EquateEmpty())
	}
	for _, c := range []struct {
		name  string
		after guidon.Position
		want  []string
	}{
		{"from the beginning", change.After(0), []string{create, flagX, segmentX, flagUpper, deleteX}},
		{"after is exclusive", guidon.Position{Revision: 3}, []string{flagUpper, deleteX}},
		{"after the last of a revision", guidon.Position{Revision: 3, Sequence: 1}, []string{deleteX}},
		{"after a revision", change.After(2), []string{segmentX, flagUpper, deleteX}},
		{"after the newest", change.After(4), []string{}},
	} {
		got, err := s.Changes(t.Context(), change.Query{Namespace: "other", After: c.after, Limit: 100})
		mustSucceed(t, err)
		wantEqual(t, c.name+", oldest first", c.want, brief(got))
	}
	if got := allChanges(t, s, change.Query{Namespace: "never was"}); len(got) != 0 {
		t.Errorf("unknown namespace: got %q", brief(got))
	}
	if _, err := s.Changes(t.Context(), change.Query{Namespace: "other"}); err == nil {
		t.Error("a query without a limit was accepted")
	}
}

// Pages of any size add up to all records.
func testChangePages(t *testing.T, s service.Store) {
	for i := range 5 {
		putFlags(t, s, defaultNamespace, numberedFlags(fmt.Sprintf("flag-%d-", i), 4)...)
	}
	want := brief(allChanges(t, s, change.Query{Namespace: defaultNamespace}))
	if len(want) != 21 {
		t.Fatalf("got %d records, want 21", len(want))
	}
	for limit := 1; limit <= 22; limit++ {
		query := change.Query{Namespace: defaultNamespace, Limit: limit}
		wantEqual(t, fmt.Sprintf("pages of %d", limit), want, brief(allChanges(t, s, query)))
		query.After = change.After(0)
		wantEqual(t, fmt.Sprintf("pages of %d, oldest first", limit), want, brief(allChanges(t, s, query)))
	}
}

// A page of large records is shorter than requested, but not empty.
func testChangePagesBounded(t *testing.T, s service.Store) {
	for i := range 3 {
		f := newFlag("large")
		f.Description = strings.Repeat(fmt.Sprint(i), 6<<20)
		putFlags(t, s, defaultNamespace, f)
	}
	first, err := s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, Limit: 100})
	mustSucceed(t, err)
	if len(first) != 1 {
		t.Errorf("got %d records of 12 MiB in one page, want 1", len(first))
	}
	wantEqual(t, "records in all", 4, len(allChanges(t, s, change.Query{Namespace: defaultNamespace})))
}
