package servicetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// undoAttempt is the undo of some revisions.
type undoAttempt struct {
	*model
	space   *space
	request service.PlanRequest
	objects map[change.Object]bool // that are selected and were changed
	absent  bool                   // something is selected that was not changed
	plan    *service.Plan
}

// undo undoes one to four revisions, or some of their changes.
func (m *model) undo(s *space) attempt {
	if s.revision() == 0 {
		return m.createNamespace(s)
	}
	last := s.revision() - min(m.random.Int64N(s.revision()), m.random.Int64N(6))
	first := max(1, last-m.random.Int64N(4))
	u := &undoAttempt{model: m, space: s, objects: map[change.Object]bool{}}
	u.request = service.PlanRequest{Namespace: s.key, Mode: service.ImportUpdate, Undo: &service.Undo{
		First: first, Last: last, Choices: map[change.Object]change.Choices{},
	}}
	u.selectSome()
	return attempt{
		space: s, reason: change.UndoReason(first, last),
		name:   fmt.Sprintf("Undo %d to %d flags: %s segments: %s", first, last, describeKeys(u.request.Flags), describeKeys(u.request.Segments)),
		run:    u.run,
		expect: u.expect,
	}
}

// selectSome selects all objects that were changed, or some.
func (u *undoAttempt) selectSome() {
	r := &u.request
	changed := map[change.Object]bool{}
	for revision := r.Undo.First; revision <= r.Undo.Last; revision++ {
		for o := range u.space.at(revision - 1).changesTo(u.space.at(revision)) {
			changed[o] = true
		}
	}
	everything := !u.one(3)
	for _, o := range slices.SortedFunc(maps.Keys(changed), compareObjects) {
		if !everything && (u.one(2) || o.Kind == change.KindNamespace) {
			continue
		}
		if u.objects[o] = true; everything {
			continue
		}
		if o.Kind == change.KindFlag {
			r.Flags = append(r.Flags, o.Key)
		} else {
			r.Segments = append(r.Segments, o.Key)
		}
	}
	if len(u.objects) == 0 {
		u.objects = changed
	}
	if u.one(30) {
		if len(r.Flags)+len(r.Segments) == 0 {
			u.objects = map[change.Object]bool{}
		}
		o := flagObject("none")
		r.Flags, u.absent = append(r.Flags, o.Key), true
	}
}

func compareObjects(a, b change.Object) int {
	return strings.Compare(string(a.Kind)+" "+a.Key, string(b.Kind)+" "+b.Key)
}

// run plans until all conflicts are resolved, at random, and applies the plan.
func (u *undoAttempt) run(ctx context.Context, w service.Write) (int64, error) {
	u.t.Helper()
	for range 20 {
		plan, _, err := u.service.Plan(ctx, service.Caller{}, service.Demand{}, u.request, nil)
		if err != nil {
			return 0, err
		}
		if len(plan.Conflicts) == 0 {
			var revision int64
			u.plan, revision, err = u.apply(ctx, w, u.request)
			return revision, err
		}
		if _, _, err := u.service.Apply(ctx, w, service.Demand{}, u.request, service.ExpectedPlan{Digest: "any"}, nil); guidon.CodeOf(err) != guidon.FailedPrecondition {
			u.fail("applied with conflicts: %v", err)
		}
		for _, o := range plan.Conflicts {
			u.resolve(u.request.Undo, o)
		}
	}
	u.fail("still conflicts after %v", u.request.Undo.Choices)
	return 0, nil
}

// resolve adds random choices for the conflicts of one object.
func (m *model) resolve(u *service.Undo, o change.ObjectConflicts) {
	if u.Choices[o.Object] == nil {
		u.Choices[o.Object] = change.Choices{}
	}
	for _, c := range o.Conflicts {
		u.Choices[o.Object][c.Path] = pick(m, []change.Side{change.Ours, change.Theirs})
	}
}

// expect returns what the undo must have done, with the choices that were made.
func (u *undoAttempt) expect() expectation {
	u.t.Helper()
	if len(u.request.Undo.Choices) > 0 {
		u.made[len(u.made)-1] += fmt.Sprintf(" choices: %v", u.request.Undo.Choices)
	}
	before, after, now := u.space.at(u.request.Undo.First-1), u.space.at(u.request.Undo.Last), u.space.current()
	switch {
	case u.absent:
		return failure(guidon.InvalidArgument)
	case now.namespace == nil && !u.deletesNamespace(u.objects[u.namespace()]):
		return failure(guidon.NotFound)
	case u.objects[u.namespace()] && u.createsNamespace():
		return failure(guidon.InvalidArgument)
	}
	e := expectation{next: now.clone(), match: map[change.Object]match{}, free: map[change.Object]map[string]bool{}, plan: u.plan}
	for o := range u.objects {
		m := &objectMerge{choices: u.request.Undo.Choices[o], free: map[string]bool{}}
		switch o.Kind {
		case change.KindNamespace:
			v := versions[guidon.Namespace]{after.namespace, now.namespace, before.namespace}
			if n := mergeNamespaces(m, v); !namespaceRules.same(exact, n, now.namespace) {
				e.next.namespace = n
			}
		case change.KindSegment:
			v := versions[guidon.Segment]{after.segments[o.Key], now.segments[o.Key], before.segments[o.Key]}
			put(e.next.segments, o.Key, mergeSegments(m, v),
				func(a, b *guidon.Segment) bool { return segmentRules.same(exact, a, b) && len(m.free) == 0 })
		case change.KindFlag:
			v := versions[guidon.Flag]{after.flags[o.Key], now.flags[o.Key], before.flags[o.Key]}
			put(e.next.flags, o.Key, mergeFlags(m, v), func(a, b *guidon.Flag) bool { return flagRules.same(m.match, a, b) && len(m.free) == 0 })
		}
		if paths := m.unresolved(); len(paths) > 0 && u.plan != nil {
			u.fail("%s %q: no conflict was stated at %v", o.Kind, o.Key, paths)
		}
		e.match[o], e.free[o] = m.match, m.free
	}
	return u.valid(e)
}

// put sets what becomes of an object, unless that is the same.
func put[T any](all map[string]*T, key string, merged *T, same func(a, b *T) bool) {
	switch {
	case same(all[key], merged):
	case merged == nil:
		delete(all, key)
	default:
		all[key] = merged
	}
}

// valid returns the expectation, or that of a failure if flags would refer to segments that
// do not exist. If the fields that refer to segments are not known, both are possible.
func (u *undoAttempt) valid(e expectation) expectation {
	invalid := e.next.document().Validate() != nil // parts that are valid by themselves need not be so together
	if invalid || !e.next.consistent() || !e.next.linked() {
		e.fails = guidon.InvalidArgument
	}
	for _, free := range e.free {
		if free[variantsField] || free["rollouts"] {
			e.fails, e.loose = guidon.InvalidArgument, true
		}
	}
	return e
}

// deletesNamespace reports whether the first or the last undone change of the namespace
// itself deletes it.
func (u *undoAttempt) deletesNamespace(selected bool) bool {
	var made []change.Action
	for r := u.request.Undo.First; r <= u.request.Undo.Last; r++ {
		if action := u.space.at(r - 1).changesTo(u.space.at(r))[u.namespace()]; action != "" {
			made = append(made, action)
		}
	}
	return selected && len(made) > 0 && (made[0] == change.ActionDelete || made[len(made)-1] == change.ActionDelete)
}

func (u *undoAttempt) namespace() change.Object {
	return change.Object{Kind: change.KindNamespace, Key: u.space.key}
}

// createsNamespace reports whether the first change of the namespace itself is its creation.
func (u *undoAttempt) createsNamespace() bool {
	return u.space.at(u.request.Undo.First-1).namespace == nil
}
