// Package servicetest checks a service over any store against a model: a plain value that
// keeps every state of some namespaces, and knows by simple rules what each operation makes
// of them.
package servicetest

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// Run makes random changes of every kind, among them imports, promotions, restores and
// undos, and checks each of them against the model. The same seed makes the same changes.
// Failures print them.
func Run(t *testing.T, store service.Store, seed uint64, steps int) {
	m := newModel(t, store, seed)
	m.alone = true
	for range steps {
		m.step()
	}
	for _, s := range m.spaces {
		for revision := range s.states {
			m.checkEarlier(s, int64(revision))
		}
	}
	t.Logf("seed %d: %v", seed, m.outcomes)
}

// model models the contents of some namespaces.
type model struct {
	t        *testing.T
	service  *service.Service
	now      time.Time // of the service, but not of its store
	alone    bool      // nobody else writes
	random   *rand.Rand
	source   *flagtest.Source
	spaces   []*space
	made     []string       // the operations so far
	outcomes map[string]int // how often each one did something
}

func newModel(t *testing.T, store service.Store, seed uint64) *model {
	m := &model{
		t: t, now: flagtest.AdditionsStart.Add(-18 * time.Hour),
		random: rand.New(rand.NewPCG(seed, 412)), // #nosec G404 -- repeatable
		source: flagtest.NewSource(seed), outcomes: map[string]int{},
	}
	m.service = service.NewService(store, func() time.Time { return m.now })
	m.source.Requirable = flagKeys
	m.made = append(m.made, fmt.Sprint("seed ", seed))
	for _, key := range []string{"shop", "till"} {
		before, _ := readState(service.View{}, guidon.NotFound)
		m.spaces = append(m.spaces, &space{key: key, states: []*state{before}})
	}
	return m
}

// attempt is one operation.
type attempt struct {
	space  *space
	name   string
	reason change.Reason
	run    func(ctx context.Context, w service.Write) (int64, error)

	// expect returns what the operation must have done. It is called after run.
	expect func() expectation
}

// expectation is the expected outcome of an operation.
type expectation struct {
	next  *state // unless it fails
	match map[change.Object]match
	free  map[change.Object]map[string]bool // fields, which may become anything valid
	fails guidon.Code                       // or success
	loose bool                              // it may also succeed
	plan  *service.Plan                     // that was applied, or nil
}

// success is the code of an operation that does not fail.
const success = guidon.Internal

// failure is the expectation that the operation fails with the code.
func failure(code guidon.Code) expectation { return expectation{fails: code} }

// operations are all kinds of operations, as often as they are made.
var operations = []struct {
	weight int
	make   func(m *model, s *space) attempt
}{
	{3, (*model).changeNamespace},
	{16, (*model).changeFlag},
	{8, (*model).changeSegment},
	{4, (*model).edit},
	{2, (*model).replaceFlag},
	{2, (*model).replaceSegment},
	{3, (*model).importDocument},
	{3, (*model).planDocument},
	{5, (*model).promote},
	{6, (*model).restore},
	{8, (*model).undo},
}

// next returns a random operation.
func (m *model) next() attempt {
	s := pick(m, m.spaces)
	if !s.exists() && !m.one(4) {
		return pick(m, []func(*model, *space) attempt{(*model).createNamespace, (*model).createNamespace, (*model).restore, (*model).undo})(m, s)
	}
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	n := m.random.IntN(total)
	for _, o := range operations {
		if n -= o.weight; n < 0 {
			return o.make(m, s)
		}
	}
	panic("unreachable")
}

// step makes one operation and checks it.
func (m *model) step() {
	m.t.Helper()
	m.now = m.now.Add(time.Duration(m.random.IntN(1200)) * time.Second)
	a := m.next()
	m.made = append(m.made, fmt.Sprintf("%s: %s", a.space.key, a.name))
	w := service.Write{Message: fmt.Sprint("step ", len(m.made))}
	dryRun, would := m.one(4), error(nil)
	if dryRun {
		would = m.dryRun(a, w)
	}
	revision, err := a.run(m.t.Context(), w)
	if dryRun && guidon.CodeOf(would) != guidon.CodeOf(err) {
		m.fail("got %v, but %v in a dry run", err, would)
	}
	e := a.expect()
	if err != nil {
		m.made[len(m.made)-1] += fmt.Sprintf(" (%v)", err)
	}
	m.checkOutcome(a, e, revision, err)
	if a.space.revision() > 0 {
		m.checkEarlier(a.space, m.random.Int64N(a.space.revision()+1))
	}
	if a.space.exists() && m.one(4) {
		m.checkDraft(a.space)
	}
}

// dryRun makes a dry run of the operation, which must change nothing, and returns its error.
func (m *model) dryRun(a attempt, w service.Write) error {
	m.t.Helper()
	w.DryRun = true
	_, err := a.run(m.t.Context(), w)
	if diff := difference(a.space.current().objects(), m.read(a.space).objects()); diff != "" {
		m.fail("a dry run has changed something (-before +after):\n%s", diff)
	}
	return err
}

// fail ends the test, with all operations that led there.
func (m *model) fail(format string, args ...any) {
	m.t.Helper()
	m.t.Fatalf("%s\nafter:\n%s", fmt.Sprintf(format, args...), strings.Join(m.made, "\n"))
}

// flagKeys are those of all flags. There are few, so that changes of the same one collide.
var flagKeys = []string{"flag-0", "flag-1", "flag-2"}

// The random arguments.

func pick[T any](m *model, from []T) T { return from[m.random.IntN(len(from))] }

func pickOr[T any](m *model, from []T, otherwise T) T {
	if len(from) == 0 || m.one(8) {
		return otherwise
	}
	return pick(m, from)
}

// one reports true once in n times.
func (m *model) one(n int) bool { return m.random.IntN(n) == 0 }

func (m *model) flagKey() string    { return pick(m, flagKeys) }
func (m *model) segmentKey() string { return pick(m, flagtest.RandomSegmentKeys) }

func (m *model) name() string { return pick(m, []string{"One", "Two", "Käse & Brot"}) }

func (m *model) text() string { return pick(m, []string{"", "short", "two\nlines"}) }

func (m *model) percentage() float32 { return pick(m, []float32{0, 0.1, 50, 100}) }

// earlier returns a revision at which the namespace existed, most often a recent one, or 0.
func (m *model) earlier(s *space) int64 {
	var all []int64
	for r := int64(1); r < s.revision(); r++ {
		if s.at(r).namespace != nil {
			all = append(all, r)
		}
	}
	switch {
	case len(all) == 0:
		return 0
	case m.one(3):
		return pick(m, all)
	}
	return pick(m, all[max(0, len(all)-8):])
}

// Seeds returns an iterator over the seeds from 1 to count, or over those of the
// environment: TEST_MODEL_SEEDS=1-1000 runs many of them.
func Seeds(t *testing.T, count uint64) iter.Seq[uint64] {
	t.Helper()
	first, last := uint64(1), count
	if text := os.Getenv("TEST_MODEL_SEEDS"); text != "" {
		if _, err := fmt.Sscanf(text, "%d-%d", &first, &last); err != nil {
			t.Fatalf("TEST_MODEL_SEEDS must be a range such as 1-1000: %v", err)
		}
	}
	return func(yield func(uint64) bool) {
		for seed := first; seed <= last && yield(seed); seed++ {
		}
	}
}
