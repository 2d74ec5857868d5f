package fliptdb_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate/fliptdb"
	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
	"github.com/guidonhq/guidon/service"
)

// twoNamespaces has a flag f with a rule, and a flag g, in each of two namespaces.
func twoNamespaces() *fliptdbtest.Data {
	at := fliptdbtest.Stamps{Created: time.Unix(1, 0), Updated: time.Unix(1, 0)}
	d := new(fliptdbtest.Data)
	for _, n := range []string{"n", "o"} {
		d.Namespaces = append(d.Namespaces, fliptdbtest.Namespace{Key: n, Stamps: at})
		d.Segments = append(d.Segments, fliptdbtest.Segment{Namespace: n, Key: "s" + n, Stamps: at})
		d.Flags = append(d.Flags, fliptdbtest.Flag{Namespace: n, Key: "f" + n, Enabled: true, Stamps: at}, fliptdbtest.Flag{Namespace: n, Key: "g" + n, Type: 1, Enabled: true, Stamps: at})
		d.Variants = append(d.Variants, fliptdbtest.Variant{ID: "v" + n, Namespace: n, Flag: "f" + n, Key: "v", Stamps: at})
		d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "r" + n, Namespace: n, Flag: "f" + n, Rank: 1, Stamps: at})
		d.RuleSegments = append(d.RuleSegments, fliptdbtest.Reference{Owner: "r" + n, Namespace: n, Segment: "s" + n})
	}
	return d
}

// A row that belongs to nothing damages what it may belong to, unless it is ignored.
func TestOrphans(t *testing.T) {
	at := fliptdbtest.Stamps{Created: time.Unix(1, 0), Updated: time.Unix(1, 0)}
	for _, tt := range []struct {
		name    string
		change  func(d *fliptdbtest.Data)
		row     string
		damaged []string
	}{
		{"a constraint of no segment", func(d *fliptdbtest.Data) {
			d.Constraints = []fliptdbtest.Constraint{{ID: "c", Namespace: "n", Segment: "gone", Type: 1, Operator: "eq", Stamps: at}}
		}, "constraints c", []string{"flag n/fn", "segment n/sn"}},
		{"a constraint in the wrong namespace", func(d *fliptdbtest.Data) {
			d.Constraints = []fliptdbtest.Constraint{{ID: "c", Namespace: "gone", Segment: "so", Type: 1, Operator: "eq", Stamps: at}}
		}, "constraints c", []string{"flag o/fo", "segment o/so"}},
		{"a rule of no flag", func(d *fliptdbtest.Data) {
			d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "x", Namespace: "n", Flag: "gone", Stamps: at})
		}, "rules x", []string{"flag n/fn", "flag n/gn"}},
		{"a segment of no rule", func(d *fliptdbtest.Data) {
			d.RuleSegments = append(d.RuleSegments, fliptdbtest.Reference{Owner: "gone", Namespace: "o", Segment: "so"})
		}, "rule_segments gone so", []string{"flag o/fo", "flag o/go"}},
		{"a distribution of no rule", func(d *fliptdbtest.Data) {
			d.Distributions = []fliptdbtest.Distribution{{ID: "d", Rule: "gone", Variant: "vn", Stamps: at}}
		}, "distributions d", []string{"flag n/fn"}},
		{"a distribution of no rule and variant", func(d *fliptdbtest.Data) {
			d.Distributions = []fliptdbtest.Distribution{{ID: "d", Rule: "gone", Variant: "gone", Stamps: at}}
		}, "distributions d", []string{"flag n/fn", "flag n/gn", "flag o/fo", "flag o/go"}},
		{"a rollout of no flag", func(d *fliptdbtest.Data) {
			d.Rollouts = []fliptdbtest.Rollout{{ID: "x", Namespace: "gone", Flag: "go", Type: 2, Stamps: at}}
			d.Thresholds = []fliptdbtest.Threshold{{ID: "t", Rollout: "x"}}
		}, "rollouts x", []string{"flag o/go"}},
		{"a threshold of no rollout", func(d *fliptdbtest.Data) {
			d.Thresholds = []fliptdbtest.Threshold{{ID: "t", Rollout: "gone"}}
		}, "rollout_thresholds t", []string{"flag n/fn", "flag n/gn", "flag o/fo", "flag o/go"}},
		{"a variant of no flag", func(d *fliptdbtest.Data) {
			d.Variants = append(d.Variants, fliptdbtest.Variant{ID: "x", Namespace: "n", Flag: "gone", Key: "x", Stamps: at})
		}, "variants x", nil},
		{"a flag of no namespace, with its rule", func(d *fliptdbtest.Data) {
			d.Flags = append(d.Flags, fliptdbtest.Flag{Namespace: "gone", Key: "fn", Stamps: at})
			d.Rules = append(d.Rules, fliptdbtest.Rule{ID: "x", Namespace: "gone", Flag: "fn", Stamps: at})
		}, "flags gone/fn", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data := twoNamespaces()
			tt.change(data)
			db := flipt(t, data)
			content := read(t, db)
			if content.Loss.Orphans != 1 || content.Findings[0].Subject != tt.row || content.Findings[0].Outcome != "not imported" {
				t.Errorf("got %v with the loss %+v, want the orphan %q", content.Findings, content.Loss, tt.row)
			}
			var damaged []string
			for _, f := range content.Findings[1:] {
				damaged = append(damaged, f.Subject)
			}
			slices.Sort(damaged)
			if diff := cmp.Diff(tt.damaged, slices.Compact(damaged)); diff != "" {
				t.Errorf("damaged (-want +got):\n%s", diff)
			}

			ignoring := readWith(t, db, fliptdb.Options{IgnoreOrphans: true})
			if ignoring.Loss != (fliptdb.Loss{}) || len(ignoring.Findings) != 1 || !strings.Contains(ignoring.Findings[0].String(), tt.row+": not imported, as Flipt does not use it either") {
				t.Errorf("ignoring orphans: got %v with the loss %+v, want a note", ignoring.Findings, ignoring.Loss)
			}
		})
	}
}

// What becomes of damaged flags is the choice of the operator. Without one, nothing is
// written.
func TestDamagedFlags(t *testing.T) {
	data := twoNamespaces()
	data.Rules[0].Operator = 7
	source := flipt(t, data)
	for _, tt := range []struct {
		damaged  fliptdb.Damaged
		loss     fliptdb.Loss
		imported bool
		outcome  string
	}{
		{fliptdb.RefuseDamaged, fliptdb.Loss{Damaged: 1}, false, "damaged"},
		{fliptdb.TurnOff, fliptdb.Loss{Off: 1}, true, "imported off"},
		{fliptdb.Omit, fliptdb.Loss{Flags: 1}, false, "not imported"},
	} {
		t.Run("damaged="+string(tt.damaged), func(t *testing.T) {
			content, db := readWith(t, source, fliptdb.Options{Damaged: tt.damaged}), target(t)
			compareFindings(t, content, []string{"flag n/fn: " + tt.outcome + ": rules rn: segment operator 7 is unknown"})
			if content.Loss != tt.loss {
				t.Errorf("got the loss %+v, want %+v", content.Loss, tt.loss)
			}
			err := content.Write(t.Context(), db, service.Write{}, func(int) {})
			if tt.damaged == fliptdb.RefuseDamaged {
				all, listErr := db.Namespaces(t.Context())
				if !errors.Is(err, guidon.FailedPrecondition) || listErr != nil || len(all) != 1 {
					t.Errorf("got %v and namespaces %v (%v), want nothing written", err, all, listErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			snapshot, _, err := db.Snapshot(t.Context(), "n", service.Demand{})
			if err != nil {
				t.Fatal(err)
			}
			f := snapshot.Flag("fn")
			if (f != nil) != tt.imported || f != nil && (f.Enabled || f.Rules != nil || f.Variants != nil) {
				t.Errorf("got the flag %+v", f)
			}
			if g := snapshot.Flag("gn"); g == nil || !g.Enabled {
				t.Errorf("got %+v, want the other flag as it was", g)
			}
		})
	}
}

// Times that cannot be read become that of the import, and the import can be repeated.
func TestUnreadableTimes(t *testing.T) {
	db := empty(t)
	if err := fliptdbtest.Generate(1).StoreUnchecked(t.Context(), db, "sqlite"); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"namespaces", "segments", "constraints", "flags", "variants", "rules", "rollouts", "authentications"} {
		if _, err := db.ExecContext(t.Context(), "UPDATE "+table+" SET created_at = NULL, updated_at = '0000-00-00'"); err != nil {
			t.Fatal(err)
		}
	}
	store := target(t)
	content := read(t, db)
	if content.Loss != (fliptdb.Loss{}) {
		t.Fatalf("got the loss %+v, want none", content.Loss)
	}
	write(t, content, store)
	snapshot, _, err := store.Snapshot(t.Context(), "second", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	f := snapshot.Flags()[0]
	if got, want := []time.Time{f.CreatedAt, f.UpdatedAt, snapshot.Namespace().CreatedAt}, []time.Time{importTime, importTime, importTime}; !cmp.Equal(got, want) {
		t.Errorf("got the times %v, want those of the import", got)
	}

	before := changed(t, store)
	again := readWith(t, db, fliptdb.Options{Damaged: fliptdb.TurnOff, Now: importTime.Add(time.Hour)})
	if missing, err := again.Check(t.Context(), store); missing != 0 || err != nil {
		t.Errorf("the same import again: got %d objects missing and %v, want none", missing, err)
	}
	write(t, again, store)
	if diff := cmp.Diff(before, changed(t, store)); diff != "" {
		t.Errorf("the second import changed something:\n%s", diff)
	}
}
