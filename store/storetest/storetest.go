// Package storetest is the conformance suite that every [service.Store] must pass,
// whatever its database and its cache.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/servicetest"
)

// Run runs the suite. open must return a fresh store in its seed state (contract 4.7)
// and close it with t.Cleanup. It is called once for each subtest. It includes the
// operations of a service that are checked against a model; see [servicetest.Seeds].
func Run(t *testing.T, open func(t *testing.T) service.Store) {
	run(t, manyPasts, open)
	for _, part := range large {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
}

// RunAgain is Run for another way to use a database that passes Run. It makes fewer random
// changes, and none that are large.
func RunAgain(t *testing.T, open func(t *testing.T) service.Store) { run(t, fewPasts, open) }

// part is a test of the suite.
type part struct {
	name string
	test func(t *testing.T, s service.Store)
}

// large are the tests of what only the database bounds.
var large = []part{
	{"ChangeSearchBounded", testChangeSearchBounded},
	{"ChangeFeedBounded", testFeedBounded},
	{"ChangePagesBounded", testChangePagesBounded},
	{"TooLarge", testTooLarge},
}

func run(t *testing.T, pasts int, open func(t *testing.T) service.Store) {
	for _, part := range []part{
		{"Seed", testSeed},
		{"NamespaceLifeCycle", testNamespaceLifeCycle},
		{"NamespaceOrder", testNamespaceOrder},
		{"UnknownNamespace", testUnknownNamespace},
		{"ReservedNamespace", testReservedNamespace},
		{"ObjectLifeCycle", testObjectLifeCycle},
		{"ListedKeys", testListedKeys},
		{"OwnedByCaller", testOwnedByCaller},
		{"Order", testOrder},
		{"OrderAfterRecreation", testOrderAfterRecreation},
		{"ReadsOwnWrites", testReadsOwnWrites},
		{"LinkedFlags", testLinkedFlags},
		{"ManyLinkedFlags", testManyLinkedFlags},
		{"AtomicOnError", testAtomicOnError},
		{"AtomicOnPanic", testAtomicOnPanic},
		{"DeadTransaction", testDeadTransaction},
		{"Canceled", testCanceled},
		{"CanceledInside", testCanceledInside},
		{"RevisionCountsWrites", testRevisionCountsWrites},
		{"NothingStored", testNothingStored},
		{"RevisionOfDeletedNamespace", testRevisionOfDeletedNamespace},
		{"IfMatch", testIfMatch},
		{"IfMatchOneWins", testIfMatchOneWins},
		{"LostUpdates", testLostUpdates},
		{"TornReads", testTornReads},
		{"UniqueFlag", testUniqueFlag},
		{"UniqueNamespace", testUniqueNamespace},
		{"RecordsComplete", testRecordsComplete},
		{"RecordsCoalesced", testRecordsCoalesced},
		{"RecordsOfDeletedNamespace", testRecordsOfDeletedNamespace},
		{"RecordFields", testRecordFields},
		{"RecordAddresses", testRecordAddresses},
		{"Replay", testReplay},
		{"ChangeFilters", testChangeFilters},
		{"ChangeNotes", testNotes},
		{"ChangeSearch", testChangeSearch},
		{"ChangeFeed", testFeed},
		{"ChangeLatest", testLatestChanges},
		{"LastChange", testLastChange},
		{"LastChangeOneWins", testLastChangeOneWins},
		{"FormerPositions", testFormerPositions},
		{"ChangePages", testChangePages},
		{"Collation", testCollation},
		{"Text", testText},
		{"UnstorableKeys", testUnstorableKeys},
		{"Attachments", testAttachments},
		{"Times", testTimes},
		{"Past", func(t *testing.T, s service.Store) { testPast(t, s, pasts) }},
		{"PastOfDeleted", testPastOfDeleted},
		{"PastErrors", testPastErrors},
		{"PastMemory", testPastMemory},
		{"AuthenticationLifeCycle", testAuthenticationLifeCycle},
		{"AuthenticationMethods", testAuthenticationMethods},
		{"AuthenticationFirst", testAuthenticationFirst},
		{"AuthenticationUnique", testAuthenticationUnique},
		{"AuthenticationAtomic", testAuthenticationAtomic},
		{"AuthenticationRevision", testAuthenticationRevision},
		{"AuthenticationRecords", testAuthenticationRecords},
		{"AuthenticationRaces", testAuthenticationRaces},
		{"AuthenticationExpired", testAuthenticationExpired},
		{"OfOwner", testOfOwner},
		{"OfMethod", testOfMethod},
		{"BindingLifeCycle", testBindingLifeCycle},
		{"BindingAtomic", testBindingAtomic},
		{"BindingRecords", testBindingRecords},
		{"BindingRevision", testBindingRevision},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, open(t)) })
	}
	steps, rounds := 100, 20
	if testing.Short() || bubble.RaceDetector {
		steps, rounds = 50, 10
	}
	for seed := range servicetest.Seeds(t, 1) {
		t.Run(fmt.Sprint("Model", seed), func(t *testing.T) { servicetest.Run(t, open(t), seed, steps) })
		t.Run(fmt.Sprint("ModelConcurrently", seed), func(t *testing.T) { servicetest.RunConcurrently(t, open(t), seed, rounds) })
	}
}

const defaultNamespace = guidon.DefaultNamespace

// errStop is returned by a function under test to abandon its update.
var errStop = errors.New("stop")

// update runs fn and fails the test if that fails. It returns the revision reported
// to the caller.
func update(t testing.TB, s service.Store, namespace string, fn func(ctx context.Context, tx service.Tx) error) int64 {
	t.Helper()
	revision, err := s.Update(t.Context(), namespace, service.Write{By: service.Caller{Actor: change.Actor{ID: "test"}}}, fn)
	if err != nil {
		t.Fatalf("Update(%q): %v", namespace, err)
	}
	return revision
}

// putFlags stores the flags in one update.
func putFlags(t testing.TB, s service.Store, namespace string, flags ...*guidon.Flag) int64 {
	t.Helper()
	return update(t, s, namespace, putAll(flags))
}

func createNamespace(t testing.TB, s service.Store, key string) int64 {
	t.Helper()
	return update(t, s, key, func(ctx context.Context, tx service.Tx) error {
		return tx.PutNamespace(ctx, &guidon.Namespace{Key: key, Name: key, CreatedAt: tx.Now(), UpdatedAt: tx.Now()})
	})
}

func deleteNamespace(t testing.TB, s service.Store, key string) int64 {
	t.Helper()
	return update(t, s, key, func(ctx context.Context, tx service.Tx) error { return tx.DeleteNamespace(ctx) })
}

func snapshot(t testing.TB, s service.Store, namespace string) *guidon.Snapshot {
	t.Helper()
	got, _, err := s.Snapshot(t.Context(), namespace, service.Demand{})
	if err != nil {
		t.Fatalf("Snapshot(%q): %v", namespace, err)
	}
	return got
}

func flagKeys(flags []*guidon.Flag) []string {
	return lists.Map(flags, func(f *guidon.Flag) string { return f.Key })
}

func segmentKeys(segments []*guidon.Segment) []string {
	return lists.Map(segments, func(g *guidon.Segment) string { return g.Key })
}

// wantCode fails the test unless err has the code.
func wantCode(t testing.TB, what string, err error, code guidon.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%s: got error %v, want %v", what, err, code)
	}
}

func wantEqual[T any](t testing.TB, what string, want, got T, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// mustEqual is wantEqual for what the rest of the test depends on.
func mustEqual[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func mustSucceed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// execute runs a statement beside the store.
func execute(t testing.TB, db *sql.DB, statement string) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement)
	mustSucceed(t, err)
}

// allChanges returns all records that match the query, oldest first. It reads pages of 100
// records, unless the query has a limit, from the newest on, unless it says after what.
func allChanges(t testing.TB, s service.Store, query change.Query) []*change.Record {
	t.Helper()
	if query.Limit == 0 {
		query.Limit = 100
	}
	oldestFirst := query.After != guidon.Position{}
	var all []*change.Record
	for {
		page, err := s.Changes(t.Context(), query)
		switch {
		case err != nil || len(page) > query.Limit:
			t.Fatalf("Changes: got %d records, the limit was %d: %v", len(page), query.Limit, err)
		case len(page) == 0 && !oldestFirst:
			slices.Reverse(all)
			return all
		case len(page) == 0:
			return all
		}
		all = append(all, page...)
		if last := page[len(page)-1].Cursor(); oldestFirst {
			query.After = last
		} else {
			query.Before = last
		}
	}
}

// brief returns the records in a form that is easy to compare.
func brief(changes []*change.Record) []string {
	return lists.Map(changes, func(c *change.Record) string {
		return fmt.Sprintf("%d.%d %s %s %s", c.Revision, c.Sequence, c.Action, c.Kind, c.Key)
	})
}

// wait limits the tests that wait for other goroutines.
const wait = 30 * time.Second
