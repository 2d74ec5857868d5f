package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// An update writes one record for each object, in the order in which they were first
// changed.
func testRecordsComplete(t *testing.T, s service.Store) {
	createNamespace(t, s, "shop")
	update(t, s, "shop", putObjects(newFlag("z"), newSegment("s"), newFlag("a")))
	update(t, s, "shop", inOneUpdate(deleteSegment("s"), putObjects(renamed("a", "changed")), deleteFlags("z")))
	want := []string{
		"1.0 create namespace shop",
		"2.0 create flag z", "2.1 create segment s", "2.2 create flag a",
		"3.0 delete segment s", "3.1 update flag a", "3.2 delete flag z",
	}
	wantEqual(t, "records", want, brief(allChanges(t, s, change.Query{Namespace: "shop"})))
	wantReplay(t, s, "shop")
}

// All changes of an object in one update make one record. Only an object that is
// deleted and put again has two, because it has a new position in lists.
func testRecordsCoalesced(t *testing.T, s service.Store) {
	putFlags(t, s, defaultNamespace, newFlag("a"), newFlag("gone"), newFlag("again"), newFlag("back"))
	update(t, s, defaultNamespace, inOneUpdate(
		putObjects(newFlag("brief")), deleteFlags("brief"),
		putObjects(renamed("a", "once"), renamed("a", "twice")),
		putObjects(renamed("back", "there"), newFlag("back")),
		putObjects(newFlag("gone")), deleteFlags("gone", "again"),
		putObjects(newFlag("again"), newFlag("late")),
	))
	got := allChanges(t, s, change.Query{Namespace: defaultNamespace})[5:]
	want := []string{"3.0 update flag a", "3.1 delete flag gone", "3.2 delete flag again", "3.3 create flag again", "3.4 create flag late"}
	mustEqual(t, "records", want, brief(got))
	if decodeFlag(t, got[0].Before).Name != "Flag a" || decodeFlag(t, got[0].After).Name != "twice" {
		t.Errorf("update: got %s -> %s", got[0].Before, got[0].After)
	}
}

func decodeFlag(t *testing.T, body json.RawMessage) *guidon.Flag {
	t.Helper()
	f := new(guidon.Flag)
	if err := json.Unmarshal(body, f); err != nil {
		t.Fatalf("decode %q: %v", body, err)
	}
	return f
}

func testRecordsOfDeletedNamespace(t *testing.T, s service.Store) {
	createNamespace(t, s, "shop")
	putFlags(t, s, "shop", newFlag("b"), newFlag("a"))
	update(t, s, "shop", putObjects(newSegment("s")))
	deleteNamespace(t, s, "shop")
	got := brief(allChanges(t, s, change.Query{Namespace: "shop"}))[4:]
	want := []string{"4.0 delete flag b", "4.1 delete flag a", "4.2 delete segment s", "4.3 delete namespace shop"}
	wantEqual(t, "records", want, got)
}

func testRecordFields(t *testing.T, s service.Store) {
	actor := change.Actor{ID: "token:1", Name: "Zoë", Method: "METHOD_TOKEN"}
	var at time.Time
	_, err := s.Update(t.Context(), defaultNamespace, service.Write{By: service.Caller{Actor: actor, RequestID: "request-1"}},
		func(ctx context.Context, tx service.Tx) error {
			at = tx.Now()
			return tx.PutFlag(ctx, renamed("a", `<"&>`))
		})
	mustSucceed(t, err)
	got, err := s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, Limit: 1})
	mustSucceed(t, err)
	want := []*change.Record{{
		Namespace: defaultNamespace, Revision: 2, Kind: change.KindFlag, Key: "a", Action: change.ActionCreate,
		Actor: actor, At: at, RequestID: "request-1",
		After: json.RawMessage(`{"key":"a","name":"<\"&>","type":"VARIANT_FLAG_TYPE","enabled":false,"createdAt":"0001-01-01T00:00:00Z","updatedAt":"0001-01-01T00:00:00Z"}`),
	}}
	want[0].Stamp = snapshot(t, s, defaultNamespace).Revision().Stamp
	wantEqual(t, "record", want, got)
	// An update without a call is anonymous.
	_, err = s.Update(t.Context(), defaultNamespace, service.Write{},
		deleteFlags("a"))
	mustSucceed(t, err)
	got, err = s.Changes(t.Context(), change.Query{Namespace: defaultNamespace, Limit: 1})
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v", got, err)
	}
	if got[0].Actor != change.Anonymous || got[0].After != nil || decodeFlag(t, got[0].Before).Key != "a" {
		t.Errorf("got record %+v", got[0])
	}
}

// Records of authentications and bindings have the address of their caller, if it is known,
// and those of namespaces have none. A query reads no addresses but those of its records.
func testRecordAddresses(t *testing.T, s service.Store) {
	for i, address := range []string{"192.0.2.1", "", "2001:db8::1", "192.0.2.3"} {
		w := service.Write{By: service.Caller{Actor: change.Actor{ID: "test"}, Address: address}}
		err := s.UpdateAuthentications(t.Context(), w, func(ctx context.Context, tx service.AuthenticationTx) error {
			b := newBinding("b", service.RoleViewer)
			b.CreatedBy = strconv.Itoa(i)
			return errors.Join(tx.PutAuthentication(ctx, newAuthentication(strconv.Itoa(i))), tx.PutBinding(ctx, b))
		})
		mustSucceed(t, err)
		if _, err := s.Update(t.Context(), defaultNamespace, w, putObjects(newFlag(strconv.Itoa(i)))); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		query change.Query
		want  []string // newest first
	}{
		"all": {change.Query{Global: true},
			[]string{"192.0.2.3", "192.0.2.3", "2001:db8::1", "2001:db8::1", "", "", "192.0.2.1", "192.0.2.1"}},
		"bindings":       {change.Query{Kind: change.KindBinding}, []string{"192.0.2.3", "2001:db8::1", "", "192.0.2.1"}},
		"authentication": {change.Query{Kind: change.KindAuthentication, Key: "2"}, []string{"2001:db8::1"}},
		"namespace":      {change.Query{Namespace: defaultNamespace, Kind: change.KindFlag}, []string{"", "", "", ""}},
		"nothing":        {change.Query{Kind: change.KindBinding, Key: "nope"}, []string{}},
	} {
		c.query.Limit = 100
		records, err := s.Changes(t.Context(), c.query)
		got := []string{}
		for _, r := range records {
			got = append(got, r.Address)
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

// Replaying the records of many updates of all kinds gives the current state.
func testReplay(t *testing.T, s service.Store) {
	w := newRandomWriter(defaultNamespace, 60)
	for i := range 60 {
		update(t, s, defaultNamespace, w.changeObject)
		if i%20 == 19 {
			wantReplay(t, s, defaultNamespace)
		}
	}
	deleteNamespace(t, s, defaultNamespace)
	createNamespace(t, s, defaultNamespace)
	putFlags(t, s, defaultNamespace, newFlag("c"), newFlag("a"))
	wantReplay(t, s, defaultNamespace)
}

// wantReplay checks that replaying the records of the namespace gives exactly its
// state.
func wantReplay(t *testing.T, s service.Store, namespace string) {
	t.Helper()
	var got snapshotParts
	last := guidon.Position{}
	for _, c := range allChanges(t, s, change.Query{Namespace: namespace}) {
		cursor := c.Cursor()
		follows := cursor == guidon.Position{Revision: last.Revision, Sequence: last.Sequence + 1} ||
			cursor == guidon.Position{Revision: last.Revision + 1}
		if !follows {
			t.Fatalf("record %v follows %v", cursor, last)
		}
		last, got.Revision = cursor, guidon.Revision{Number: c.Revision, Stamp: c.Stamp}
		got.apply(t, c)
	}
	got.Flags, got.Segments = slices.Concat(got.Flags), slices.Concat(got.Segments) // nil if there are none
	wantEqual(t, "replayed state", parts(snapshot(t, s, namespace)), got)
}

// apply replays one record.
func (p *snapshotParts) apply(t *testing.T, c *change.Record) {
	t.Helper()
	switch c.Kind {
	case change.KindNamespace:
		p.Namespace = nil
		if c.After != nil {
			p.Namespace = new(guidon.Namespace)
			mustSucceed(t, json.Unmarshal(c.After, p.Namespace))
		}
	case change.KindFlag:
		p.Flags = applyTo(t, p.Flags, c,
			func(f *guidon.Flag) string { return f.Key }, func(f *guidon.Flag) *guidon.Position { return &f.Created })
	case change.KindSegment:
		p.Segments = applyTo(t, p.Segments, c,
			func(g *guidon.Segment) string { return g.Key }, func(g *guidon.Segment) *guidon.Position { return &g.Created })
	default:
		t.Fatalf("record of kind %q in a namespace", c.Kind)
	}
}

func applyTo[T any](t *testing.T, list []*T, c *change.Record, key func(*T) string, created func(*T) *guidon.Position) []*T {
	t.Helper()
	at := slices.IndexFunc(list, func(o *T) bool { return key(o) == c.Key })
	if (at < 0) != (c.Before == nil) {
		t.Fatalf("record %d.%d %s %s %s does not fit the state", c.Revision, c.Sequence, c.Action, c.Kind, c.Key)
	}
	if c.After == nil {
		return slices.Delete(list, at, at+1)
	}
	object := new(T)
	mustSucceed(t, json.Unmarshal(c.After, object))
	any(object).(interface{ Unmark() }).Unmark()
	if at < 0 {
		*created(object) = guidon.Position{Revision: c.Revision, Sequence: c.Sequence}
		return append(list, object)
	}
	*created(object) = *created(list[at])
	list[at] = object
	return list
}
