package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

func register(t testing.TB, s *store.DB, reader string) {
	t.Helper()
	if err := s.RegisterReader(t.Context(), reader); err != nil {
		t.Fatalf("RegisterReader(%q): %v", reader, err)
	}
}

// registerEarliest registers a reader that begins at the oldest record of each namespace.
func registerEarliest(t testing.TB, s *store.DB, reader string) {
	t.Helper()
	register(t, s, reader)
	_, err := s.SQL().ExecContext(t.Context(), s.Bind("DELETE FROM change_cursors WHERE reader_name = ?"), reader)
	mustSucceed(t, err)
}

// changed returns all namespaces with records that the reader has not passed.
func changed(t testing.TB, s *store.DB, reader string) []service.ChangedNamespace {
	t.Helper()
	all, err := s.ChangedNamespaces(t.Context(), reader, "", 1000)
	if err != nil {
		t.Fatalf("ChangedNamespaces(%q): %v", reader, err)
	}
	return all
}

func changedKeys(all []service.ChangedNamespace) []string {
	return lists.Map(all, func(n service.ChangedNamespace) string { return n.Key })
}

// unread returns up to limit records of the namespace that the reader has not passed.
func unread(t testing.TB, s *store.DB, n service.ChangedNamespace, limit int) []*change.Record {
	t.Helper()
	records, err := s.Changes(t.Context(), n.Unread(limit))
	if err != nil {
		t.Fatalf("Changes of %q: %v", n.Key, err)
	}
	return records
}

// readAll moves the reader past all records, in pages of the size, and returns them in a
// form that is easy to compare.
func readAll(t testing.TB, s *store.DB, reader string, page int) []string {
	t.Helper()
	got := []string{}
	for all := changed(t, s, reader); len(all) > 0; all = changed(t, s, reader) {
		for _, n := range all {
			records := unread(t, s, n, page)
			if len(records) == 0 {
				t.Fatalf("%s has no records after %v", n.Key, n.Position)
			}
			for _, line := range brief(records) {
				got = append(got, n.Key+": "+line)
			}
			advance(t, s, reader, n.Position, records[len(records)-1])
		}
	}
	return got
}

func advance(t testing.TB, s *store.DB, reader string, from guidon.Position, past *change.Record) {
	t.Helper()
	if err := s.AdvanceReader(t.Context(), reader, from, past); err != nil {
		t.Fatalf("AdvanceReader(%q, %v, %v): %v", reader, from, past.Cursor(), err)
	}
}

func wantPosition(t testing.TB, s *store.DB, reader, namespace string, want guidon.Position) {
	t.Helper()
	got, err := positionOf(t.Context(), s, reader, namespace)
	if err != nil || got != want {
		t.Errorf("%s is at %v, %v in %s, want %v", reader, got, err, namespace, want)
	}
}

// positionOf returns the position of the reader's cursor in the namespace, if the log has that.
func positionOf(ctx context.Context, s *store.DB, reader, namespace string) (guidon.Position, error) {
	at := change.After(0)
	err := s.Reader().QueryRowContext(ctx, s.Bind(`SELECT p.revision, p.seq FROM change_cursors p
		WHERE p.reader_name = ? AND p.namespace_key = ? AND EXISTS (SELECT 1 FROM changes c
			WHERE c.namespace_key = p.namespace_key AND c.revision = p.revision AND c.stamp = p.stamp)`),
		reader, namespace).Scan(&at.Revision, &at.Sequence)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return at, err
}

// describeNamespace gives the namespace further revisions, each of which supersedes the
// last.
func describeNamespace(t testing.TB, s service.Store, namespace string, times int) {
	t.Helper()
	for range times {
		update(t, s, namespace, editNamespace(func(n *guidon.Namespace) { n.Description += "x" }))
	}
}

// prune deletes all change records that may be deleted, whatever their age.
func prune(t testing.TB, s *store.DB) int {
	t.Helper()
	n, err := s.DeleteChanges(t.Context(), time.Now().Add(time.Hour), 1000)
	if err != nil {
		t.Fatalf("DeleteChanges: %v", err)
	}
	return n
}

func testRegisterReader(t *testing.T, s *store.DB) {
	for _, c := range []struct {
		name string
		rule string // in the error, or "" if the name is accepted
	}{
		{"webhook:3f2a", ""},
		{"audit-log_2.kafka", ""},
		{strings.Repeat("x", 100), ""},
		{"", "must not be empty"},
		{strings.Repeat("x", 101), "must not be longer than 100 characters"},
		{"Upper", "must consist of"},
		{"-first", "must consist of"},
		{"two words", "must consist of"},
		{"line\n", "must consist of"},
		{"ünïcode", "must consist of"},
	} {
		err := s.RegisterReader(t.Context(), c.name)
		if c.rule == "" && err != nil || c.rule != "" && (!errors.Is(err, guidon.InvalidArgument) || !strings.Contains(err.Error(), "invalid field name: "+c.rule)) {
			t.Errorf("%q: got %v, want an error with %q", c.name, err, c.rule)
		}
	}
	readers, err := s.Readers(t.Context())
	mustSucceed(t, err)
	var names []string
	for _, r := range readers {
		names = append(names, r.Name)
		if age := time.Since(r.RegisteredAt); age < -time.Minute || age > time.Minute || !r.AdvancedAt.Equal(r.RegisteredAt) {
			t.Errorf("%s: registered %v, advanced %v", r.Name, r.RegisteredAt, r.AdvancedAt)
		}
	}
	wantEqual(t, "readers", []string{"audit-log_2.kafka", "webhook:3f2a", strings.Repeat("x", 100)}, names)
	// A second registration changes nothing.
	createNamespace(t, s, "shop")
	register(t, s, "webhook:3f2a")
	wantEqual(t, "records", []string{"shop: 1.0 create namespace shop"}, readAll(t, s, "webhook:3f2a", 10))
	for _, unknown := range []string{"unknown", "", "\x00", "Upper"} {
		_, changedErr := s.ChangedNamespaces(t.Context(), unknown, "", 1)
		for what, err := range map[string]error{
			"ChangedNamespaces": changedErr,
			"RemoveReader":      s.RemoveReader(t.Context(), unknown),
			"AdvanceReader":     s.AdvanceReader(t.Context(), unknown, change.After(0), &change.Record{Namespace: "shop", Revision: 1}),
		} {
			wantCode(t, fmt.Sprintf("%s of reader %q", what, unknown), err, guidon.NotFound)
		}
	}
}

func testReaderLimit(t *testing.T, s *store.DB) {
	for i := range service.MaxChangeReaders {
		register(t, s, fmt.Sprint("reader-", i))
	}
	err := s.RegisterReader(t.Context(), "another")
	wantCode(t, "one more than the limit", err, guidon.FailedPrecondition)
	register(t, s, "reader-7")
	mustSucceed(t, s.RemoveReader(t.Context(), "reader-7"))
	register(t, s, "another")
}

// A reader gets either all records, or those that are written after its registration.
func testReaderStart(t *testing.T, s *store.DB) {
	createNamespace(t, s, "shop")
	putFlags(t, s, "shop", newFlag("a"))
	putAuthentication(t, s, newAuthentication("1"))
	registerEarliest(t, s, "early")
	register(t, s, "late")
	if got := changed(t, s, "late"); len(got) > 0 {
		t.Errorf("a new reader that starts at the latest record has unread ones: %+v", got)
	}
	wantPosition(t, s, "early", "shop", change.After(0))
	wantPosition(t, s, "late", "shop", change.After(2))
	wantPosition(t, s, "late", service.AuthenticationsKey, change.After(1))
	putFlags(t, s, "shop", newFlag("b"))
	putAuthentication(t, s, newAuthentication("2"))
	createNamespace(t, s, "new")
	before := []string{
		"(authentications): 1.0 create authentication 1",
		"default: 1.0 create namespace default",
		"shop: 1.0 create namespace shop", "shop: 2.0 create flag a",
	}
	after := []string{
		"(authentications): 2.0 create authentication 2",
		"new: 1.0 create namespace new",
		"shop: 3.0 create flag b",
	}
	for reader, want := range map[string][]string{"early": slices.Concat(before, after), "late": after} {
		got := readAll(t, s, reader, 10)
		slices.Sort(want)
		slices.Sort(got)
		wantEqual(t, reader, want, got)
	}
}

// The namespaces with unread records include deleted ones and the authentications.
func testChangedNamespaces(t *testing.T, s *store.DB) {
	createNamespace(t, s, "gone")
	createNamespace(t, s, "idle")
	register(t, s, "r")
	deleteNamespace(t, s, "gone")
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("b"), newFlag("c"))
	putAuthentication(t, s, newAuthentication("1"))
	got := changed(t, s, "r")
	want := []service.ChangedNamespace{
		{Key: service.AuthenticationsKey, Position: change.After(0), Revisions: 1},
		{Key: defaultNamespace, Position: change.After(1), Revisions: 1},
		{Key: "gone", Position: change.After(1), Revisions: 1},
	}
	for i, n := range got {
		if first := unread(t, s, n, 1); len(first) != 1 || !first[0].At.Equal(n.Since) {
			t.Errorf("%s: the oldest unread record is from %v, want that of %+v", n.Key, n.Since, first)
		}
		got[i].Since = time.Time{}
	}
	mustEqual(t, "changed namespaces", want, got)
	if got := brief(unread(t, s, got[2], 10)); !slices.Equal(got, []string{"2.0 delete namespace gone"}) {
		t.Errorf("records of the deleted namespace: got %q", got)
	}

	// In the middle of a revision, the rest of it is unread.
	n := got[1]
	for i, record := range unread(t, s, n, 10) {
		wantPosition(t, s, "r", n.Key, n.Position)
		advance(t, s, "r", n.Position, record)
		n.Position = record.Cursor()
		wantEqual(t, fmt.Sprintf("after record %d of 3: unread", i+1), i < 2, slices.Contains(changedKeys(changed(t, s, "r")), n.Key))
	}
	readAll(t, s, "r", 10)
	if got := changed(t, s, "r"); len(got) > 0 {
		t.Errorf("all records are read: got %+v", got)
	}
	createNamespace(t, s, "gone")
	if got := readAll(t, s, "r", 10); !slices.Equal(got, []string{"gone: 3.0 create namespace gone"}) {
		t.Errorf("after the namespace was created again: got %q", got)
	}
}

// Pages of any size add up to all namespaces.
func testChangedNamespacePages(t *testing.T, s *store.DB) {
	for i := range 7 {
		createNamespace(t, s, fmt.Sprint("n", i))
	}
	registerEarliest(t, s, "r")
	want := changedKeys(changed(t, s, "r"))
	if len(want) != 8 { // with the default namespace
		t.Fatalf("got %q, want 8 namespaces", want)
	}
	for limit := 1; limit <= 9; limit++ {
		var got []string
		for after := ""; ; {
			page, err := s.ChangedNamespaces(t.Context(), "r", after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("got %d namespaces, %v, the limit was %d", len(page), err, limit)
			}
			if len(page) == 0 {
				break
			}
			got, after = append(got, changedKeys(page)...), page[len(page)-1].Key
		}
		wantEqual(t, fmt.Sprintf("pages of %d", limit), want, got)
	}
	if _, err := s.ChangedNamespaces(t.Context(), "r", "", 0); err == nil {
		t.Error("a query without a limit was accepted")
	}
}
