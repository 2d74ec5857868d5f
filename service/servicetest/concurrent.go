package servicetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// RunConcurrently plans and applies while others write to the same namespaces. Then the
// change log must show that each apply has done exactly what its plan stated, and that
// refused ones have done nothing.
func RunConcurrently(t *testing.T, store service.Store, seed uint64, rounds int) {
	const workers, writers = 3, 2
	results := make([]*worker, workers)
	var working, writing sync.WaitGroup
	done := make(chan struct{})
	for i := range uint64(writers) {
		w := &worker{model: newModel(t, store, seed+100+i)}
		writing.Go(func() { w.writeUntil(done) })
	}
	for i := range uint64(workers) {
		results[i] = &worker{model: newModel(t, store, seed+200+i), id: i}
		working.Go(func() { results[i].work(rounds) })
	}
	working.Wait()
	close(done)
	writing.Wait()
	checkLog(t, results)
}

// worker plans and applies, or only writes.
type worker struct {
	*model
	id      uint64
	applied []applied
	refused int // applies
}

// applied is a plan that was applied, and the message of its records.
type applied struct {
	plan     *service.Plan
	revision int64
	message  string
}

// currentSpace returns a namespace whose history is only its current state.
func (w *worker) currentSpace(key string) *space {
	v, err := w.service.View(w.t.Context(), key, service.Demand{})
	current, err := readState(v, err)
	if err != nil {
		w.t.Error(err)
		current, _ = readState(service.View{}, guidon.NotFound)
	}
	before, _ := readState(service.View{}, guidon.NotFound)
	return &space{key: key, states: []*state{before, current}}
}

// writes are the operations that need no plan.
var writes = []func(m *model, s *space) attempt{
	(*model).changeFlag, (*model).changeFlag, (*model).changeFlag, (*model).changeSegment, (*model).changeSegment,
	(*model).edit, (*model).replaceFlag, (*model).replaceSegment, (*model).importDocument,
}

// write makes a random change of one of the namespaces, if that is possible.
func (w *worker) write() {
	s := w.currentSpace(pick(w.model, w.spaces).key)
	a := pick(w.model, writes)(w.model, s)
	if !s.exists() || w.one(40) {
		a = w.changeNamespace(s)
	}
	_, err := a.run(w.t.Context(), service.Write{Message: "write"})
	w.mayFail(a.name, err)
}

// mayFail reports an error that is not due to the state of the namespaces.
func (w *worker) mayFail(name string, err error) {
	switch {
	case err == nil:
	case guidon.CodeOf(err) == guidon.InvalidArgument, guidon.CodeOf(err) == guidon.NotFound, guidon.CodeOf(err) == guidon.FailedPrecondition:
	default:
		w.t.Errorf("%s: %v", name, err)
	}
}

func (w *worker) writeUntil(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
			w.write()
		}
	}
}

// work plans, lets others write or writes itself, and applies.
func (w *worker) work(rounds int) {
	for round := range rounds {
		r := w.request()
		plan := w.planFor(&r)
		if plan == nil {
			continue
		}
		if w.one(4) {
			w.write()
		}
		message := fmt.Sprintf("plan %d of worker %d", round, w.id)
		_, revision, err := w.service.Apply(w.t.Context(), service.Write{Message: message}, service.Demand{}, r, expectedOf(plan), nil)
		if w.mayFail("Apply", err); err != nil {
			w.refused++
		} else {
			w.applied = append(w.applied, applied{plan, revision, message})
		}
	}
}

// planFor returns the plan for the request, with its conflicts resolved, or nil if there is
// none.
func (w *worker) planFor(r *service.PlanRequest) *service.Plan {
	for range 4 {
		plan, _, err := w.service.Plan(w.t.Context(), service.Caller{}, service.Demand{}, *r, nil)
		if w.mayFail("Plan", err); err != nil {
			return nil
		}
		if len(plan.Conflicts) == 0 {
			return plan
		}
		for _, o := range plan.Conflicts {
			w.resolve(r.Undo, o)
		}
	}
	return nil
}

// request returns a random request for a plan.
func (w *worker) request() service.PlanRequest {
	target, source := w.currentSpace(pick(w.model, w.spaces).key), w.currentSpace(pick(w.model, w.spaces).key)
	latest := w.latest(target.key)
	r := service.PlanRequest{Namespace: target.key}
	switch {
	case w.one(3) && latest > 1:
		last := latest - w.random.Int64N(min(latest-1, 5))
		r.Mode, r.Undo = service.ImportUpdate, &service.Undo{First: max(2, last-w.random.Int64N(3)), Last: last,
			Choices: map[change.Object]change.Choices{}}
		return r
	case source.key == target.key && latest > 1:
		r.Source = fmt.Sprintf("%s@%d", target.key, latest-1-w.random.Int64N(min(latest-1, 20)))
	case source.key != target.key:
		r.Source = source.key
	default:
		document, content := w.document(target)
		r.Document = document
		w.selectSome(&r, content)
		return r
	}
	w.selectSome(&r, source.current())
	return r
}

func (w *worker) latest(namespace string) int64 {
	latest, err := w.service.LatestChange(w.t.Context(), namespace)
	if err != nil {
		w.t.Error(err)
	}
	return latest.Revision
}

// logs are the records of the namespaces, by revision.
type logs map[string]map[int64][]*change.Record

// checkLog compares the change log with what was applied.
func checkLog(t *testing.T, workers []*worker) {
	t.Helper()
	all := logs{}
	for _, s := range workers[0].spaces {
		all[s.key] = workers[0].replay(s.key)
	}
	made, refused := map[string]bool{}, 0
	for _, w := range workers {
		refused += w.refused
		for _, a := range w.applied {
			if len(a.plan.Changes) == 0 {
				continue
			}
			made[a.message] = true
			records := all[a.plan.Namespace][a.revision]
			if problem := unstated(a.plan, records); problem != "" {
				t.Errorf("%s, revision %d of %q: %s", a.message, a.revision, a.plan.Namespace, problem)
				continue
			}
			for _, r := range records {
				if r.Message != a.message || r.Reason.Kind == "" {
					t.Errorf("revision %d of %q: got the message %q and the reason %v, want those of %s",
						a.revision, r.Namespace, r.Message, r.Reason, a.message)
				}
			}
		}
	}
	all.wantNoOthers(t, made)
	t.Logf("%d plans applied, %d refused", len(made), refused)
	if len(made) == 0 || refused == 0 {
		t.Errorf("%d plans were applied and %d refused: this proves nothing", len(made), refused)
	}
}

// wantNoOthers checks that no plan has changed anything but those that were applied.
func (l logs) wantNoOthers(t *testing.T, made map[string]bool) {
	t.Helper()
	for namespace, revisions := range l {
		for revision, records := range revisions {
			for _, r := range records {
				planned := strings.HasPrefix(r.Message, "plan") || r.Reason.Kind != "" && r.Reason != change.ImportReason()
				if planned && !made[r.Message] {
					t.Errorf("revision %d of %q was not applied: %q, %v", revision, namespace, r.Message, r.Reason)
				}
			}
		}
	}
}

// replay returns the records of the namespace by revision, after checking that each one
// follows from those before it, and that all of them together result in the current state.
func (m *model) replay(namespace string) map[int64][]*change.Record {
	m.t.Helper()
	state, revisions := map[change.Object]string{}, map[int64][]*change.Record{}
	after := change.After(0)
	for {
		page, err := m.service.ChangesAfter(context.WithoutCancel(m.t.Context()), namespace, after)
		if err != nil {
			m.t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			o := change.Object{Kind: r.Kind, Key: r.Key}
			if state[o] != string(r.Before) {
				m.t.Errorf("revision %d of %q: %s %q is not what it was before:\n%s",
					r.Revision, namespace, r.Kind, r.Key, cmp.Diff(state[o], string(r.Before)))
			}
			if state[o] = string(r.After); r.After == nil {
				delete(state, o)
			}
			revisions[r.Revision] = append(revisions[r.Revision], r)
			after = r.Cursor()
		}
	}
	m.wantReplayed(namespace, state)
	return revisions
}

// wantReplayed compares the current state with that of the records.
func (m *model) wantReplayed(namespace string, want map[change.Object]string) {
	m.t.Helper()
	v, err := m.service.View(m.t.Context(), namespace, service.Demand{})
	current, err := readState(v, err)
	if err != nil {
		m.t.Fatal(err)
	}
	objects := current.objects()
	if len(objects) != len(want) {
		m.t.Errorf("%q has %d objects, but its records lead to %d", namespace, len(objects), len(want))
	}
	for o, object := range objects {
		if !recorded([]byte(want[o]), object) {
			m.t.Errorf("%s %q of %q is not that of its last record: %s", o.Kind, o.Key, namespace, want[o])
		}
	}
	if err := current.document().Validate(); err != nil {
		m.t.Errorf("%q is not valid: %v", namespace, err)
	}
}
