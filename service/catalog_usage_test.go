package service_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

const day = 24 * time.Hour

// counted is a namespace "shop" whose evaluations are counted.
type counted struct {
	db      *store.DB
	counter *count.Counter
	now     time.Time
}

// newCounted returns one of which evaluations have been counted for some time.
func newCounted(t *testing.T, since time.Duration) counted {
	t.Helper()
	e := counted{db: storetest.NewSQLite(t), now: time.Now().UTC()}
	e.counter = newCounter(e)
	if since != 0 {
		e.mark(t, "since", since)
	}
	e.mark(t, "hours", 900*day)
	e.mark(t, "days", 900*day)
	e.mark(t, "alive", 0)
	return e
}

// mark sets a mark to some time ago.
func (e counted) mark(t *testing.T, name string, ago time.Duration) {
	t.Helper()
	if err := e.db.SetMark(t.Context(), name, e.now.Add(-ago)); err != nil {
		t.Fatal(err)
	}
}

// add adds one evaluation, or something else that is counted of the namespace, some time ago.
func (e counted) add(t *testing.T, ago time.Duration, key, name string) {
	t.Helper()
	row := count.Minute{
		Namespace: "shop", At: e.now.Add(-ago).Truncate(time.Minute), Reporter: key + name, Counts: count.Counts{key: {name: 1}},
	}
	if err := e.db.AddMinutes(t.Context(), []count.Minute{row}, fmt.Sprint(key, name, ago), ""); err != nil {
		t.Fatal(err)
	}
}

// view returns a state with the flags.
func (e counted) view(flags ...*guidon.Flag) service.View {
	namespace := &guidon.Namespace{Key: "shop", CreatedAt: e.now.Add(-900 * day)}
	return service.View{
		Snapshot: guidon.NewSnapshot(namespace, guidon.Revision{}, flags, nil), State: service.State{Namespace: "shop"}, Counter: e.counter,
	}
}

// aged returns the flag with the times of its creation and of its last change.
func aged(now time.Time, f *guidon.Flag, created, updated time.Duration) *guidon.Flag {
	f.CreatedAt, f.UpdatedAt = now.Add(-created), now.Add(-updated)
	return f
}

// TestVerdicts has every rule of a verdict, in a period of 30 days.
func TestVerdicts(t *testing.T) {
	partly := func() *guidon.Flag { return flagtest.BooleanFlag("f", false, flagtest.Threshold(50, true)) }
	constant := func() *guidon.Flag { return flagtest.BooleanFlag("f", true) }
	meant := func() *guidon.Flag { f := constant(); f.Metadata = []byte(`{"guidon.permanent":true}`); return f }
	for _, test := range []struct {
		name             string
		flag             *guidon.Flag
		created, updated time.Duration
		since            time.Duration // evaluations have been counted
		last             time.Duration // evaluation; 0 if there was none
		download         time.Duration // of all flags; 0 if there was none
		want             string        // verdict and reasons; "" if the flag is not listed
	}{
		{"evaluated", partly(), 90 * day, 90 * day, 90 * day, day, 0, ""},
		{"not evaluated for long", partly(), 90 * day, 90 * day, 90 * day, 31 * day, 0, "3 [3]"},
		{"evaluated just in time", partly(), 90 * day, 90 * day, 90 * day, 29 * day, 0, ""},
		{"never evaluated", partly(), 90 * day, 90 * day, 90 * day, 0, 0, "4 [4]"},
		{"never evaluated, same for all", constant(), 90 * day, 90 * day, 90 * day, 0, 0, "4 [0 4]"},
		{"evaluated, same for all", constant(), 90 * day, 90 * day, 90 * day, day, 0, "6 [0]"},
		{"evaluated, same for all, changed", constant(), 90 * day, 5 * day, 90 * day, day, 0, "0 [0]"},
		{"never evaluated, changed", partly(), 90 * day, 5 * day, 90 * day, 0, 0, ""},
		{"a new flag", partly(), 5 * day, 5 * day, 90 * day, 0, 0, ""},
		{"counting began a few days ago", partly(), 90 * day, 90 * day, 5 * day, 0, 0, ""},
		{"counting has not begun", constant(), 90 * day, 90 * day, 0, 0, 0, "2 [0]"},
		{"downloaded", partly(), 90 * day, 90 * day, 90 * day, 0, day, "5 [5]"},
		{"downloaded, not evaluated for long", partly(), 90 * day, 90 * day, 90 * day, 31 * day, day, "5 [5]"},
		{"downloaded long ago", partly(), 90 * day, 90 * day, 90 * day, 0, 40 * day, "4 [4]"},
		{"downloaded and evaluated", partly(), 90 * day, 90 * day, 90 * day, day, day, ""},
		{"meant to stay", meant(), 90 * day, 90 * day, 90 * day, 0, 0, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newCounted(t, test.since)
			if test.last != 0 {
				e.add(t, test.last, "f", "true match")
			}
			if test.download != 0 {
				e.add(t, test.download, count.Namespace, count.Download)
			}
			if test.since != 0 {
				if err := e.counter.RollUp(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			v := e.view(aged(e.now, test.flag, test.created, test.updated))
			all := service.UnusedQuery{Reasons: []service.UnusedKind{0, 1, 2, 3, 4, 5}}
			list, err := v.UnusedFlags(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, f := range list.Flags {
				var kinds []service.UnusedKind
				for _, r := range f.Reasons {
					kinds = append(kinds, r.Kind)
				}
				got = fmt.Sprintf("%d %d", f.Usage.Verdict, kinds)
			}
			if got != test.want {
				t.Errorf("got verdict and reasons %q, want %q", got, test.want)
			}
		})
	}
}

// TestVerdictRequired: whoever evaluates a flag that requires another evaluates that one too, which is not
// counted. So it is not unused as long as there are such flags.
func TestVerdictRequired(t *testing.T) {
	e := newCounted(t, 90*day)
	flags := func(requires ...guidon.Requirement) []*guidon.Flag {
		base := aged(e.now, flagtest.BooleanFlag("base", false, flagtest.Threshold(50, true)), 90*day, 90*day)
		user := aged(e.now, flagtest.BooleanFlag("user", false, flagtest.Threshold(50, true)), 90*day, 90*day)
		user.Requires = requires
		return []*guidon.Flag{base, user}
	}
	for want, flags := range map[string][]*guidon.Flag{
		"[base user]": flags(),
		"[user]":      flags(guidon.Requirement{FlagKey: "base"}),
	} {
		list, err := e.view(flags...).UnusedFlags(t.Context(), service.UnusedQuery{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(lists.Map(list.Flags, func(f service.UnusedFlag) string { return f.Flag.Key })); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestUsage: flags that nobody can tell of are left out unless they are wanted, a pause of counting makes all flags
// new, and the figures are those of the period.
func TestUsage(t *testing.T) {
	e := newCounted(t, 90*day)
	e.add(t, 40*day, "same", "true match")
	e.add(t, 3*day, "same", "true match")
	e.add(t, 2*day, "same", "false default")
	e.add(t, 2*day, count.Namespace, count.Bulk)
	e.add(t, 50*day, count.Namespace, count.Download)
	if err := e.counter.RollUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := e.view(
		aged(e.now, flagtest.BooleanFlag("same", true), 90*day, 90*day),
		aged(e.now, flagtest.BooleanFlag("never", false, flagtest.Threshold(50, true)), 90*day, 90*day))
	list, err := v.UnusedFlags(t.Context(), service.UnusedQuery{})
	if err != nil || len(list.Flags) != 1 {
		t.Fatalf("got %+v, %v, want one flag", list, err)
	}
	want := &service.FlagUsage{
		Verdict: service.VerdictSteady, LastAt: e.now.Add(-2 * day).Truncate(time.Minute), Evaluations: 2, Downloads: 1,
		Since: e.now.Add(-90 * day).Truncate(time.Second),
	}
	if diff := cmp.Diff(want, list.Flags[0].Usage); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	list, err = v.UnusedFlags(t.Context(), service.UnusedQuery{Reasons: []service.UnusedKind{service.UnusedCannotTell}, AfterDays: 60})
	if err != nil || list.Total != 1 || list.Flags[0].Usage.Downloads != 2 {
		t.Errorf("got %+v, %v, want the flag that nobody can tell of, with 2 downloads", list, err)
	}
	for _, days := range []int{-1, 367} {
		if _, err := v.UnusedFlags(t.Context(), service.UnusedQuery{AfterDays: days}); err == nil {
			t.Errorf("after %d days: got no error", days)
		}
	}
	e.mark(t, "alive", 2*time.Hour)
	if err := e.counter.RollUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	v.Counter = newCounter(e)
	list, err = v.UnusedFlags(t.Context(), service.UnusedQuery{Reasons: []service.UnusedKind{service.UnusedOneAnswer, service.UnusedCannotTell}})
	if err != nil || list.Total != 1 || list.Flags[0].Usage.Verdict != service.VerdictNew {
		t.Errorf("after a pause: got %+v, %v, want that flags are new", list, err)
	}
}

// newCounter returns another instance on the same database.
func newCounter(e counted) *count.Counter {
	return count.NewCounter(e.db, count.Keep{Minutes: 2 * day, Hours: 60 * day, Days: 730 * day}, func() time.Time { return e.now })
}
