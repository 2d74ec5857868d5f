package fliptdbtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Compare evaluates flags for many generated entities and contexts, and compares the
// results of [Data.Evaluate] with those of the store.
func Compare(t *testing.T, d *Data, store service.Store) {
	t.Helper()
	const contexts = 2500
	g := &generator{Rand: rand.New(rand.NewPCG(7, 7))} // #nosec G404 -- reproducible
	snapshots := make(map[string]*guidon.Snapshot)
	for _, n := range d.Namespaces {
		snapshot, _, err := store.Snapshot(t.Context(), n.Key, service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		snapshots[n.Key] = snapshot
	}
	reasons := make(map[string]int)
	for i := range contexts {
		entity, values := g.request(i)
		// Only some flags per context: all of them would take minutes.
		for range 8 {
			f := pick(g, d.Flags)
			want := d.Evaluate(f.Namespace, f.Key, entity, values)
			got := evaluate(t, snapshots[f.Namespace], f, entity, values)
			if !cmp.Equal(got, want, attachments) {
				t.Fatalf("%s/%s for %q %q: (-reference +store)\n%s", f.Namespace, f.Key, entity, values, cmp.Diff(want, got, attachments))
			}
			reasons[fmt.Sprint(f.Type, want.Match, want.Reason)]++
		}
	}
	if len(reasons) < 8 {
		t.Errorf("the requests do not cover enough cases: got only the results %v", reasons)
	}
}

// attachments compares attachments as JSON values, because PostgreSQL does not keep their
// form.
var attachments = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Attachment" },
	cmp.Comparer(func(a, b string) bool {
		var x, y any
		if a == "" || b == "" {
			return a == b
		}
		return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
	}))

// request returns an entity and a context. Any property may be missing.
func (g *generator) request(i int) (entity string, values map[string]string) {
	entity = pick(g, []string{fmt.Sprintf("user-%d", i), "user-1", "user-3", "", "日本語"})
	values = make(map[string]string)
	for _, p := range []struct {
		name string
		list []string
	}{{"name", texts}, {"age", numbers}, {"paid", booleans}, {"since", dates}} {
		if g.IntN(4) > 0 {
			values[p.name] = pick(g, p.list)
		}
	}
	return entity, values
}

func evaluate(t *testing.T, snapshot *guidon.Snapshot, f Flag, entity string, values map[string]string) Result {
	t.Helper()
	if f.Type == 1 {
		r, err := snapshot.Boolean(f.Key, entity, values)
		if err != nil {
			t.Fatal(err)
		}
		return booleanResult(r)
	}
	r, err := snapshot.Variant(f.Key, entity, values)
	if err != nil {
		t.Fatal(err)
	}
	return variantResult(r)
}
