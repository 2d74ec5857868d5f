package servicetest

import (
	"encoding/json"
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// checkOutcome checks what the operation has done, and adds the new state to the history.
func (m *model) checkOutcome(a attempt, e expectation, revision int64, err error) {
	m.t.Helper()
	s := a.space
	failed := err != nil
	if failed && (e.fails == success || guidon.CodeOf(err) != e.fails) || !failed && e.fails != success && !e.loose {
		m.fail("got the error %v, want code %v (%v is success)", err, e.fails, success)
	}
	if failed {
		e = expectation{next: s.current()}
	}
	before := s.current()
	after := m.settle(s, e)
	changes := before.changesTo(after)
	if len(changes) > 0 {
		s.states = append(s.states, after)
		m.outcomes[kindOf(a)]++
	}
	if !failed && revision != s.revision() {
		m.fail("got revision %d, want %d", revision, s.revision())
	}
	if latest, err := m.service.LatestChange(m.t.Context(), s.key); err != nil || latest.Revision != s.revision() && s.revision() > 0 {
		m.fail("the last record is of revision %d, want %d: %v", latest.Revision, s.revision(), err)
	}
	if len(changes) > 0 {
		m.checkRecords(a, before, after, changes, e.plan)
	}
	if e.plan != nil && !failed && len(e.plan.Changes) != len(changes) {
		m.fail("the plan stated %d changes, but there are %d", len(e.plan.Changes), len(changes))
	}
}

// kindOf returns the kind of the operation, for statistics.
func kindOf(a attempt) string {
	for i, c := range a.name {
		if c == ' ' {
			return a.name[:i]
		}
	}
	return a.name
}

// settle compares the current state of the namespace with the expected one, and returns
// it. Objects that must not have changed are those of the model.
func (m *model) settle(s *space, e expectation) *state {
	m.t.Helper()
	got := m.read(s)
	before := s.current()
	after := &state{
		segments: settleAll(m, segmentRules, e, before.segments, e.next.segments, got.segments),
		flags:    settleAll(m, flagRules, e, before.flags, e.next.flags, got.flags),
	}
	of := func(n *guidon.Namespace) map[string]*guidon.Namespace {
		if n == nil {
			return nil
		}
		return map[string]*guidon.Namespace{s.key: n}
	}
	namespaces := settleAll(m, namespaceRules, e, of(before.namespace), of(e.next.namespace), of(got.namespace))
	after.namespace = namespaces[s.key]
	if !after.consistent() || !after.linked() {
		m.fail("a flag refers to a segment or flag that does not exist")
	}
	if err := after.document().Validate(); err != nil {
		m.fail("what is stored is not valid: %v", err)
	}
	return after
}

// read returns the current state of the namespace.
func (m *model) read(s *space) *state {
	m.t.Helper()
	v, err := m.service.View(m.t.Context(), s.key, service.Demand{})
	got, failed := readState(v, err)
	if failed != nil {
		m.fail("%v", failed)
	}
	return got
}

// settleAll compares the objects of one kind with the expected ones.
func settleAll[T any](m *model, rules rules[T], e expectation, before, want, got map[string]*T) map[string]*T {
	m.t.Helper()
	after := map[string]*T{}
	for key, is := range got {
		o := change.Object{Kind: rules.kind, Key: key}
		switch must := want[key]; {
		case must == nil:
			m.fail("%s %q exists", rules.kind, key)
		case must == before[key]:
			if diff := difference(must, is); diff != "" {
				m.fail("%s %q has changed (-before +after):\n%s", rules.kind, key, diff)
			}
			after[key] = must
		default:
			if diff := rules.differ(e.match[o], e.free[o], must, is); diff != "" {
				m.fail("%s %q is not as expected (-want +got):\n%s", rules.kind, key, diff)
			}
			if !rules.createdThen(e.match[o], before[key], must, is) {
				m.fail("%s %q was created at %s", rules.kind, key, *rules.created(is))
			}
			after[key] = is
			if was := before[key]; was != nil && difference(was, is) == "" {
				after[key] = was // what the model could not know
			}
		}
		if text := rules.invalid(is); text != "" {
			m.fail("%s %q: %s", rules.kind, key, text)
		}
	}
	for key := range want {
		if got[key] == nil {
			m.fail("%s %q does not exist", rules.kind, key)
		}
	}
	return after
}

// checkEarlier reads the state with the revision by reference.
func (m *model) checkEarlier(s *space, revision int64) {
	m.t.Helper()
	if revision == 0 {
		return
	}
	ref := service.Reference{Namespace: s.key, At: service.Moment{Revision: revision}}
	if m.one(3) {
		records, err := m.service.ChangesAfter(m.t.Context(), s.key, change.After(revision-1))
		if err != nil || len(records) == 0 {
			m.fail("the records of revision %d: %v", revision, err)
		}
		ref.At = service.Moment{Time: records[0].At}
	}
	v, err := m.service.ViewAt(m.t.Context(), ref, service.Demand{}, nil)
	got, failed := readState(v, err)
	if failed != nil {
		m.fail("%s: %v", ref, failed)
	}
	if diff := difference(s.at(revision).objects(), got.objects()); diff != "" {
		m.fail("%s has changed (-then +now):\n%s", ref, diff)
	}
}

// checkRecords checks that the current revision has one record for each change, and that
// the plan, if there is one, has stated them.
func (m *model) checkRecords(a attempt, before, after *state, changes map[change.Object]change.Action, plan *service.Plan) {
	m.t.Helper()
	records := m.recordsOf(a.space)
	was, is := before.objects(), after.objects()
	got := map[change.Object]change.Action{}
	for _, r := range records {
		o := change.Object{Kind: r.Kind, Key: r.Key}
		if got[o] != "" {
			m.fail("%s %q has several records", r.Kind, r.Key)
		}
		got[o] = r.Action
		if r.Reason != a.reason {
			m.fail("%s %q: got the reason %+v, want %+v", r.Kind, r.Key, r.Reason, a.reason)
		}
		if !recorded(r.Before, was[o]) || !recorded(r.After, is[o]) {
			m.fail("%s %q: the record has not what it was, or is:\n%s\n%s", r.Kind, r.Key, r.Before, r.After)
		}
	}
	if diff := cmp.Diff(changes, got); diff != "" {
		m.fail("records (-want +got):\n%s", diff)
	}
	if plan != nil {
		if problem := unstated(plan, records); problem != "" {
			m.fail("%s", problem)
		}
	}
}

// recordsOf returns the records of the current revision.
func (m *model) recordsOf(s *space) []*change.Record {
	m.t.Helper()
	var all []*change.Record
	after := change.After(s.revision() - 1)
	for {
		page, err := m.service.ChangesAfter(m.t.Context(), s.key, after)
		if err != nil {
			m.fail("%v", err)
		}
		if len(page) == 0 {
			return all
		}
		all, after = append(all, page...), page[len(page)-1].Cursor()
	}
}

// recorded reports whether the text is that of the object, which is nil if it does not
// exist.
func recorded(text json.RawMessage, object any) bool {
	if object == nil || text == nil {
		return object == nil && text == nil
	}
	switch o := object.(type) {
	case *guidon.Segment:
		object = o.Stored()
	case *guidon.Flag:
		object = o.Stored()
	}
	want, err := json.Marshal(object)
	return err == nil && sameJSON(want, text)
}

// sameJSON reports whether both texts have the same value, whatever the order of members.
func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
