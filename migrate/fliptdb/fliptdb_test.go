package fliptdb_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// flipt returns a Flipt database with the data.
func flipt(t *testing.T, d *fliptdbtest.Data) *sql.DB {
	t.Helper()
	db := empty(t)
	if err := d.Store(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	return db
}

func empty(t *testing.T) *sql.DB {
	t.Helper()
	file := url.URL{Scheme: "file", OmitHost: true, Path: filepath.Join(t.TempDir(), "flipt.db")}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func target(t *testing.T) *store.DB {
	t.Helper()
	return storetest.NewSQLite(t)
}

// importTime replaces times that cannot be read.
var importTime = time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)

// read reads the database as with the option --damaged off.
func read(t *testing.T, db *sql.DB) *fliptdb.Content {
	t.Helper()
	return readWith(t, db, fliptdb.Options{Damaged: fliptdb.TurnOff, Now: importTime})
}

func readWith(t *testing.T, db *sql.DB, options fliptdb.Options) *fliptdb.Content {
	t.Helper()
	content, err := fliptdb.Read(t.Context(), db, "sqlite", options)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func write(t *testing.T, content *fliptdb.Content, db *store.DB) {
	t.Helper()
	if err := content.Write(t.Context(), db, service.Write{}, func(int) {}); err != nil {
		t.Fatal(err)
	}
}

// Evaluations of the imported flags return the results of Flipt (contract 7).
func TestEvaluationsAgree(t *testing.T) {
	for seed := range uint64(3) {
		data, db := fliptdbtest.Generate(seed), target(t)
		content := read(t, flipt(t, data))
		if len(content.Findings) > 0 {
			t.Fatalf("got findings %v, want none", content.Findings)
		}
		write(t, content, db)
		fliptdbtest.Compare(t, data, db)
	}
}

// Imported tokens have the same scope as before, and metadata keys of this service
// (operations 1.4).
func TestTokens(t *testing.T) {
	db := target(t)
	data := fliptdbtest.Generate(1)
	write(t, read(t, flipt(t, data)), db)
	svc := service.NewService(db, time.Now)

	a, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", fliptdbtest.Token)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		service.MetadataTokenName: "client", service.MetadataTokenDescription: "all of it", "team": "till",
	}
	if diff := cmp.Diff(want, a.Metadata); diff != "" || a.Method != service.MethodToken {
		t.Errorf("got method %v, metadata (-want +got):\n%s", a.Method, diff)
	}
	if _, limited := a.Scope(); limited {
		t.Error("a token without limits is limited to a namespace")
	}
	row := data.Authentications[slices.IndexFunc(data.Authentications, func(r fliptdbtest.Authentication) bool { return r.Hash == a.TokenHash })]
	if a.ID != row.ID || !a.CreatedAt.Equal(row.Created) || !a.UpdatedAt.Equal(row.Updated) {
		t.Errorf("got %+v, want id and times of %+v", a, row)
	}
	scoped, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", fliptdbtest.ScopedToken)
	if err != nil {
		t.Fatal(err)
	}
	if namespace, limited := scoped.Scope(); !limited || namespace != "second" {
		t.Errorf("got scope %q, %t, want second", namespace, limited)
	}
	if _, _, err := svc.Authenticate(t.Context(), service.Demand{}, "", fliptdbtest.ExpiredToken); !errors.Is(err, guidon.Unauthenticated) {
		t.Errorf("expired token: got %v", err)
	}
	set, _, err := db.Authentications(t.Context(), service.Demand{}, "")
	if err != nil || len(set.All()) != len(data.Authentications) {
		t.Fatalf("got %d authentications, %v", len(set.All()), err)
	}
	for _, a := range set.All() {
		for key := range a.Metadata {
			if strings.HasPrefix(key, "io.flipt.") {
				t.Errorf("%v keeps the key %s", a.Method, key)
			}
		}
	}
}

// All fields of an object are imported.
func TestFields(t *testing.T) {
	at := func(n int) fliptdbtest.Stamps {
		created := time.Date(2024, 2, 29, 1, 2, n, 123456000, time.UTC)
		return fliptdbtest.Stamps{Created: created, Updated: created.Add(time.Hour)}
	}
	data := &fliptdbtest.Data{
		Namespaces: []fliptdbtest.Namespace{{Key: "shop", Name: "Shop", Description: "d", Protected: true, Stamps: at(0)}},
		Segments:   []fliptdbtest.Segment{{Namespace: "shop", Key: "a", Name: "A", Description: "x", MatchType: 1, Stamps: at(1)}, {Namespace: "shop", Key: "b", Name: "B", Stamps: at(2)}},
		Constraints: []fliptdbtest.Constraint{
			{ID: "c2", Namespace: "shop", Segment: "a", Type: 5, Property: "entityId", Operator: "eq", Value: "u", Stamps: at(4)},
			{ID: "c1", Namespace: "shop", Segment: "a", Type: 1, Property: "p", Operator: "isoneof", Value: `["1"]`, Description: "why", Stamps: at(3)},
		},
		Flags: []fliptdbtest.Flag{
			{Namespace: "shop", Key: "f", Name: "F", Description: "fd", Enabled: true, Metadata: ` {"a": 1} `, Default: "v2", Stamps: at(5)},
			{Namespace: "shop", Key: "g", Name: "G", Type: 1, Stamps: at(4)},
		},
		Variants: []fliptdbtest.Variant{
			{ID: "v2", Namespace: "shop", Flag: "f", Key: "two", Stamps: at(7)},
			{ID: "v1", Namespace: "shop", Flag: "f", Key: "one", Name: "One", Description: "vd", Attachment: `{ "k" : "v w" }`, Stamps: at(6)},
		},
		Rules: []fliptdbtest.Rule{
			{ID: "r2", Namespace: "shop", Flag: "f", Rank: 7, Operator: 1, Stamps: at(8)},
			{ID: "r1", Namespace: "shop", Flag: "f", Rank: 3, Operator: 1, Stamps: at(9)},
		},
		RuleSegments: []fliptdbtest.Reference{{Owner: "r1", Namespace: "shop", Segment: "a"}, {Owner: "r2", Namespace: "shop", Segment: "b"}, {Owner: "r2", Namespace: "shop", Segment: "a"}},
		Distributions: []fliptdbtest.Distribution{
			{ID: "d2", Rule: "r1", Variant: "v1", Rollout: 33.33, Stamps: at(11)}, {ID: "d1", Rule: "r1", Variant: "v2", Rollout: 66.67, Stamps: at(10)},
		},
		Rollouts: []fliptdbtest.Rollout{
			{ID: "t", Namespace: "shop", Flag: "g", Type: 2, Description: "td", Rank: 2, Stamps: at(12)}, {ID: "s", Namespace: "shop", Flag: "g", Type: 1, Rank: 1, Stamps: at(13)},
		},
		Thresholds:      []fliptdbtest.Threshold{{ID: "tt", Namespace: "shop", Rollout: "t", Percentage: 12.5, Value: true}},
		RolloutSegments: []fliptdbtest.RolloutSegment{{ID: "ss", Rollout: "s", Value: true, Operator: 1}},
		RolloutRefs:     []fliptdbtest.Reference{{Owner: "ss", Namespace: "shop", Segment: "b"}, {Owner: "ss", Namespace: "shop", Segment: "a"}},
	}
	db := target(t)
	write(t, read(t, flipt(t, data)), db)
	snapshot, _, err := db.Snapshot(t.Context(), "shop", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}

	when := func(n int) (time.Time, time.Time) { return at(n).Created, at(n).Updated }
	segmentA := &guidon.Segment{Key: "a", Name: "A", Description: "x", MatchType: guidon.MatchAny, Constraints: []*guidon.Constraint{
		{ID: "c1", Type: guidon.StringComparison, Property: "p", Operator: "isoneof", Value: `["1"]`, Description: "why"},
		{ID: "c2", Type: guidon.EntityIDComparison, Property: "entityId", Operator: "eq", Value: "u"},
	}}
	segmentB := &guidon.Segment{Key: "b", Name: "B"}
	segmentA.CreatedAt, segmentA.UpdatedAt = when(1)
	segmentB.CreatedAt, segmentB.UpdatedAt = when(2)
	for i, c := range segmentA.Constraints {
		c.CreatedAt, c.UpdatedAt = when(3 + i)
	}
	f := &guidon.Flag{
		Key: "f", Name: "F", Description: "fd", Enabled: true, Metadata: json.RawMessage(`{"a":1}`), DefaultVariantID: "v2",
		Variants: []*guidon.Variant{{ID: "v1", Key: "one", Name: "One", Description: "vd", Attachment: `{"k":"v w"}`}, {ID: "v2", Key: "two"}},
		Rules: []*guidon.Rule{
			{ID: "r1", Rank: 3, SegmentKeys: []string{"a"}, Distributions: []*guidon.Distribution{{ID: "d1", VariantID: "v2", Rollout: 66.67}, {ID: "d2", VariantID: "v1", Rollout: 33.33}}},
			{ID: "r2", Rank: 7, SegmentKeys: []string{"b", "a"}, SegmentOperator: guidon.AndSegments},
		},
	}
	f.CreatedAt, f.UpdatedAt = when(5)
	for i, v := range f.Variants {
		v.CreatedAt, v.UpdatedAt = when(6 + i)
	}
	for i, r := range f.Rules {
		r.CreatedAt, r.UpdatedAt = when(9 - i)
	}
	for i, d := range f.Rules[0].Distributions {
		d.CreatedAt, d.UpdatedAt = when(10 + i)
	}
	g := &guidon.Flag{Key: "g", Name: "G", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
		{ID: "s", Rank: 1, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"b", "a"}, SegmentOperator: guidon.AndSegments, Value: true}},
		{ID: "t", Rank: 2, Description: "td", Threshold: &guidon.RolloutThreshold{Percentage: 12.5, Value: true}},
	}}
	g.CreatedAt, g.UpdatedAt = when(4)
	for i, r := range g.Rollouts {
		r.CreatedAt, r.UpdatedAt = when(13 - i)
	}
	namespace := &guidon.Namespace{Key: "shop", Name: "Shop", Description: "d", Protected: true}
	namespace.CreatedAt, namespace.UpdatedAt = when(0)
	for _, tt := range []struct{ got, want any }{
		{snapshot.Namespace(), namespace},
		{snapshot.Segments(), []*guidon.Segment{segmentA, segmentB}},
		{snapshot.Flags(), []*guidon.Flag{g, f}}, // the older one first
	} {
		if diff := cmp.Diff(tt.want, tt.got, ignoreCreated); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

var ignoreCreated = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Created" }, cmp.Ignore())

// Databases with an unsupported schema are rejected.
func TestSchemaVersion(t *testing.T) {
	if _, err := fliptdb.Read(t.Context(), empty(t), "sqlite", fliptdb.Options{}); !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), "not a database of Flipt v1") {
		t.Errorf("an empty database: got %v", err)
	}
	for _, tt := range []struct{ change, want string }{
		{"version = 12", `run "flipt migrate"`},
		{"dirty = TRUE", "migration of Flipt failed"},
	} {
		db := flipt(t, &fliptdbtest.Data{})
		if _, err := db.ExecContext(t.Context(), "UPDATE schema_migrations SET "+tt.change); err != nil {
			t.Fatal(err)
		}
		if _, err := fliptdb.Read(t.Context(), db, "sqlite", fliptdb.Options{}); !errors.Is(err, guidon.FailedPrecondition) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.change, err, tt.want)
		}
	}
	db := flipt(t, &fliptdbtest.Data{})
	if _, err := db.ExecContext(t.Context(), "UPDATE schema_migrations SET version = 99"); err != nil {
		t.Fatal(err)
	}
	if content := read(t, db); len(content.Findings) != 1 || content.Loss != (fliptdb.Loss{}) {
		t.Errorf("a newer schema: got %v, want one note", content.Findings)
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE rule_segments"); err != nil {
		t.Fatal(err)
	}
	if _, err := fliptdb.Read(t.Context(), db, "sqlite", fliptdb.Options{}); err == nil || !strings.Contains(err.Error(), "rule_segments") {
		t.Errorf("a missing table: got %v", err)
	}
}
