package storetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
)

var keepAll = count.Keep{Minutes: 48 * time.Hour, Hours: 60 * 24 * time.Hour, Days: 730 * 24 * time.Hour}

// counting is an instance that counts evaluations.
type counting struct {
	*count.Counter
	snapshot *guidon.Snapshot
}

func newCounting(s count.Store, keep count.Keep, now *time.Time, flags int) counting {
	var all []*guidon.Flag
	for i := range flags {
		all = append(all, flagtest.BooleanFlag(fmt.Sprintf("flag-%d", i), true))
	}
	snapshot := guidon.NewSnapshot(&guidon.Namespace{Key: "shop"}, guidon.Revision{}, all, nil)
	return counting{count.NewCounter(s, keep, func() time.Time { return *now }), snapshot}
}

// evaluate counts evaluations of a flag.
func (c counting) evaluate(flag, times int) string {
	f := c.snapshot.Compiled(fmt.Sprintf("flag-%d", flag))
	for range times {
		r, err := f.Boolean("u", nil)
		c.Boolean("shop", f, &r, err)
	}
	return f.Flag().Key
}

// errKilled is the error of a store whose process was killed.
var errKilled = errors.New("killed")

// killed is a store that works for a number of writes.
type killed struct {
	count.Store
	after *int
}

func (k killed) write(fn func() error) error {
	if *k.after--; *k.after < 0 {
		return errKilled
	}
	return fn()
}

func (k killed) MergeMinute(ctx context.Context, namespace string, at time.Time, merge func([]count.Minute) []count.Minute) error {
	return k.write(func() error { return k.Store.MergeMinute(ctx, namespace, at, merge) })
}

func (k killed) PutSlot(ctx context.Context, u *count.Unit, namespace string, at time.Time, slot count.Slot) error {
	return k.write(func() error { return k.Store.PutSlot(ctx, u, namespace, at, slot) })
}

func (k killed) SetMark(ctx context.Context, name string, at time.Time) error {
	return k.write(func() error { return k.Store.SetMark(ctx, name, at) })
}

// model has the evaluations that were counted, by minute and flag.
type model map[time.Time]map[string]uint64

func (m model) add(at time.Time, key string, n int) {
	at = at.Truncate(time.Minute)
	if m[at] == nil {
		m[at] = map[string]uint64{}
	}
	m[at][key] += uint64(n) // #nosec G115 -- small
}

// series returns the numbers of a flag, or of the namespace, in the steps of a range.
func (m model) series(key string, r count.Range) []uint64 {
	points := make([]uint64, r.To.Sub(r.From)/r.Step)
	for at, numbers := range m {
		if at.Before(r.From) || !at.Before(r.To) {
			continue
		}
		for k, n := range numbers {
			if k == key || key == count.Namespace {
				points[at.Sub(r.From)/r.Step] += n
			}
		}
	}
	return points
}

func sums(s *count.Series) []uint64 {
	points := make([]uint64, len(s.Points))
	for i, p := range s.Points {
		points[i] = p.Sum()
	}
	return points
}

// testSeries counts for three days on three instances, with roll-ups that are killed, and compares every series
// with what was counted.
func testSeries(t *testing.T, s *store.DB) {
	r := rand.New(rand.NewPCG(1, 2)) // #nosec G404 -- a test
	begin := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
	now := begin
	const flags = 1100 // more than a row has undivided
	instances := []counting{newCounting(s, keepAll, &now, flags), newCounting(s, keepAll, &now, flags), newCounting(s, keepAll, &now, flags)}
	mustSucceed(t, instances[0].RollUp(t.Context()))
	counted := model{}
	for step := 0; now.Before(begin.Add(72 * time.Hour)); step++ {
		for _, i := range instances {
			if step%40 == 7 {
				for flag := range flags {
					counted.add(now, i.evaluate(flag, 1), 1)
				}
			}
			n := r.IntN(5)
			counted.add(now, i.evaluate(r.IntN(3), n), n)
			mustSucceed(t, i.Flush(t.Context()))
		}
		if r.IntN(3) == 0 {
			after := r.IntN(40)
			c := count.NewCounter(killed{s, &after}, keepAll, func() time.Time { return now })
			if err := c.RollUp(t.Context()); err != nil && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
		now = now.Add(time.Duration(1+r.IntN(50)) * time.Minute)
	}
	compare := func(what string) {
		t.Helper()
		for _, q := range []count.Range{
			{From: now.Add(-5 * time.Hour), Step: count.StepMinute},
			{From: begin, Step: count.StepHour},
			{From: begin, Step: count.StepDay},
			{From: now.Add(-50 * time.Hour), To: now.Add(-30 * time.Hour)},
		} {
			keys := []string{"flag-0", "flag-1", "flag-2", "flag-1077", count.Namespace}
			all, err := instances[1].Series(t.Context(), "shop", keys, q)
			mustSucceed(t, err)
			for _, key := range keys {
				wantEqual(t, fmt.Sprintf("%s: %s in steps of %s from %s", what, key, all[key].Step, all[key].From), counted.series(key, all[key].Range), sums(all[key]))
			}
		}
	}
	compare("some roll-ups")
	for range 2 {
		mustSucceed(t, instances[0].RollUp(t.Context()))
		compare("after a roll-up")
	}
	last, err := instances[2].Last(t.Context(), "shop", []string{"flag-1077", "flag-9999"})
	mustSucceed(t, err)
	want := map[string]time.Time{}
	for at, numbers := range counted {
		if numbers["flag-1077"] > 0 && at.After(want["flag-1077"]) {
			want["flag-1077"] = at
		}
	}
	wantEqual(t, "last evaluations", want, last)
}

// testMinutes: rows are stored together, once for each name, and those of several instances are merged.
func testMinutes(t *testing.T, s *store.DB) {
	at := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
	row := func(reporter string, n uint64) count.Minute {
		return count.Minute{Namespace: "shop", At: at, Reporter: reporter, Counts: count.Counts{"a": {"true match": n}, "b": {"Ünï none": 1}}}
	}
	add := func(name, earlier string, rows ...count.Minute) {
		t.Helper()
		mustSucceed(t, s.AddMinutes(t.Context(), rows, name, earlier))
	}
	add("first", "", row("y", 2))
	add("first", "", row("again", 32))
	add("second", "first", row("z", 4))
	add("second", "unknown", row("again", 64))
	if err := s.AddMinutes(t.Context(), []count.Minute{row("new", 8), row("y", 16)}, "third", "second"); err == nil {
		t.Error("a second row of the same reporter was stored")
	}
	if err := s.MergeMinute(t.Context(), "shop", at, func(rows []count.Minute) []count.Minute {
		if len(rows) != 2 {
			t.Errorf("got %+v, want the rows of y and z", rows)
		}
		merged := rows[0]
		merged.Counts = count.Counts{"a": {"true match": rows[0].Counts["a"]["true match"] + rows[1].Counts["a"]["true match"]}}
		return []count.Minute{merged}
	}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Minutes(t.Context(), "shop", []int{0, 3}, at, at.Add(time.Minute), maps.Clone)
	want := []count.Minute{{Namespace: "shop", At: at, Reporter: "y", Counts: count.Counts{"a": {"true match": 6}}}}
	mustSucceed(t, err)
	wantEqual(t, "minutes", want, got)
}

// testReports: a reporter reports once in ten seconds.
func testReports(t *testing.T, s *store.DB) {
	now := time.Date(2026, 6, 28, 21, 40, 31, 0, time.UTC)
	c := newCounting(s, keepAll, &now, 0)
	mustSucceed(t, c.RollUp(t.Context()))
	for _, test := range []struct {
		reporter string
		after    time.Duration
		limited  bool
	}{{"x", 0, false}, {"x", time.Second, true}, {"y", 0, false}, {"x", 9 * time.Second, false}, {"x", 10 * time.Second, false}} {
		now = now.Add(test.after)
		err := c.Report(t.Context(), "shop", test.reporter, count.Counts{"a": {"true match": 1}})
		if errors.Is(err, guidon.Limited) != test.limited || !test.limited && err != nil {
			t.Errorf("%s, %s later: got %v, want it limited: %t", test.reporter, test.after, err, test.limited)
		}
	}
	all, err := c.Series(t.Context(), "shop", []string{"a"}, count.Range{Step: count.StepDay})
	if err != nil || len(all["a"].Points) != 1 || all["a"].Points[0].Sum() != 4 {
		t.Errorf("got %+v, %v, want 4 evaluations", all["a"], err)
	}
}

// testRetention: what is kept no longer is deleted, and series begin with what is kept.
func testRetention(t *testing.T, s *store.DB) {
	begin := time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC)
	now := begin
	keep := count.Keep{Minutes: 2 * time.Hour, Hours: 48 * time.Hour, Days: 40 * 24 * time.Hour}
	c := newCounting(s, keep, &now, 2)
	for now.Before(begin.Add(80 * 24 * time.Hour)) {
		c.evaluate(0, 1)
		if now.Equal(begin) {
			c.evaluate(1, 1)
		}
		mustSucceed(t, errors.Join(c.Flush(t.Context()), c.RollUp(t.Context())))
		now = now.Add(12 * time.Hour)
	}
	for _, test := range []struct {
		step time.Duration
		want int // evaluations
	}{{count.StepMinute, 0}, {count.StepHour, 4}, {count.StepDay, 80}} {
		all, err := c.Series(t.Context(), "shop", []string{"flag-0"}, count.Range{From: begin, Step: test.step})
		mustSucceed(t, err)
		got := 0
		for _, n := range sums(all["flag-0"]) {
			got += int(n) // #nosec G115 -- small
		}
		if got < test.want-1 || got > test.want+4 {
			t.Errorf("in steps of %s: got %d evaluations, want about %d", test.step, got, test.want)
		}
	}
	times, err := s.Times(t.Context(), "shop", nil)
	if err != nil || len(times) != 1 || times["flag-0"].First != begin {
		t.Errorf("got %v, %v, want only the flag that is still evaluated", times, err)
	}
	old, err := s.Minutes(t.Context(), "shop", nil, begin, now.Add(-15*time.Hour), maps.Clone)
	if err != nil || len(old) != 0 {
		t.Errorf("got %+v, %v, want no old minutes", old, err)
	}
	for _, u := range []struct {
		unit   *count.Unit
		before time.Time
	}{{count.Hours, begin.Add(70 * 24 * time.Hour)}, {count.Days, begin}} {
		start, _ := u.unit.Row(u.before)
		if namespaces, err := s.SeriesNamespaces(t.Context(), u.unit, start); err != nil || len(namespaces) != 0 {
			t.Errorf("unit %s: got rows of %s of %v, %v, want none", u.unit.Name, start, namespaces, err)
		}
	}
}

// testPause: series begin when counting began.
func testPause(t *testing.T, s *store.DB) {
	now := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
	c := newCounting(s, keepAll, &now, 1)
	c.evaluate(0, 1)
	mustSucceed(t, c.Flush(t.Context()))
	all, err := c.Series(t.Context(), "shop", []string{"flag-0"}, count.Range{})
	if err != nil || len(all["flag-0"].Points) != 0 || !all["flag-0"].Since.IsZero() {
		t.Errorf("before the first roll-up: got %+v, %v, want no points", all["flag-0"], err)
	}
	mustSucceed(t, c.RollUp(t.Context()))
	since := now
	last, err := c.Last(t.Context(), "shop", nil)
	mustSucceed(t, err)
	wantEqual(t, "last evaluations of all flags", map[string]time.Time{"flag-0": now}, last)
	now = now.Add(100 * time.Minute)
	all, err = c.Series(t.Context(), "shop", []string{"flag-0"}, count.Range{})
	if got := all["flag-0"]; err != nil || !got.From.Equal(since) || !got.Since.Equal(since) || len(got.Points) != 100 || got.Points[0].Sum() != 1 {
		t.Errorf("got %+v, %v, want a point for each minute since %s", got, err, since)
	}
}

// testWrongClocks: roll-ups by instances whose clocks are ahead or behind keep nothing from series.
func testWrongClocks(t *testing.T, s *store.DB) {
	now := time.Date(2026, 6, 28, 21, 40, 0, 0, time.UTC)
	begin, counted := now, uint64(0)
	c := newCounting(s, keepAll, &now, 1)
	wrong := map[uint64]time.Duration{7: 26 * time.Hour, 14: -3 * time.Hour, 21: -400 * 24 * time.Hour}
	for ; now.Before(begin.Add(75 * time.Hour)); counted++ {
		mustSucceed(t, c.RollUp(t.Context()))
		c.evaluate(0, 1)
		mustSucceed(t, c.Flush(t.Context()))
		if by, ok := wrong[counted%31]; ok {
			mustSucceed(t, count.NewCounter(s, keepAll, func() time.Time { return now.Add(by) }).RollUp(t.Context()))
		}
		now = now.Add(10 * time.Minute)
	}
	mustSucceed(t, c.RollUp(t.Context()))
	for _, step := range []time.Duration{count.StepHour, count.StepDay} {
		all, err := c.Series(t.Context(), "shop", []string{"flag-0"}, count.Range{From: begin, Step: step})
		mustSucceed(t, err)
		got := uint64(0)
		for _, n := range sums(all["flag-0"]) {
			got += n
		}
		if got != counted {
			t.Errorf("in steps of %s: got %d evaluations, want %d", step, got, counted)
		}
	}
	last, err := c.Last(t.Context(), "shop", nil)
	mustSucceed(t, err)
	wantEqual(t, "last evaluations", map[string]time.Time{"flag-0": now.Add(-10 * time.Minute)}, last)
}
