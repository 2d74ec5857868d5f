package servicetest

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// document returns a random document: some flags and segments of the namespace, edited or
// not, and some new ones. It returns the same as a state.
func (m *model) document(s *space) (*service.Document, *state) {
	now, source := s.current(), m.source
	d := &state{namespace: &guidon.Namespace{Key: s.key, Name: m.name(), Description: m.text(), Color: m.color(), ConfirmChanges: m.one(2)}}
	d.segments = someOf(m, 8, flagtest.RandomSegmentKeys, now.segments, source.Segment, source.EditSegment)
	d.flags = someOf(m, 3, flagKeys, now.flags, source.Flag, source.EditFlag)
	return d.document(), d
}

// someOf returns objects with some of the keys, without one in so many: those that exist, edited or not, and new ones.
func someOf[T any](m *model, without int, keys []string, existing map[string]*T, create func(key string) *T, edit func(*T) *T) map[string]*T {
	some := map[string]*T{}
	for _, key := range keys {
		switch have := existing[key]; {
		case m.one(without):
		case have == nil:
			some[key] = create(key)
		case m.one(2):
			some[key] = have
		default:
			some[key] = edit(have)
		}
	}
	return some
}

func (m *model) mode() service.ImportMode {
	return pick(m, []service.ImportMode{
		service.ImportCreate, service.ImportSkipExisting, service.ImportUpdate, service.ImportUpdate, service.ImportUpdate, service.ImportReplace,
		service.ImportReplace,
	})
}

func (m *model) importDocument(s *space) attempt {
	document, source := m.document(s)
	p := &sourcePlan{source: source, names: true}
	p.Document, p.Mode = document, m.mode()
	return attempt{
		space: s, name: fmt.Sprintf("Import (%s)", p.Mode), reason: change.ImportReason(),
		run: func(ctx context.Context, w service.Write) (int64, error) {
			if m.alone {
				return m.importTwice(ctx, w, s.key, document, p.Mode)
			}
			return revisionOf(m.service.Import(ctx, w, s.key, document, p.Mode, false))
		},
		expect: func() expectation { return p.into(s.current()) },
	}
}

// importTwice imports the document after a dry run, which must have said what then happens, and again, which must
// change nothing.
func (m *model) importTwice(ctx context.Context, w service.Write, namespace string, d *service.Document, mode service.ImportMode) (int64, error) {
	m.t.Helper()
	want, _, would := m.service.Import(ctx, w, namespace, d, mode, true)
	if w.DryRun {
		return 0, would
	}
	got, revision, err := m.service.Import(ctx, w, namespace, d, mode, false)
	if guidon.CodeOf(would) != guidon.CodeOf(err) {
		m.fail("imported: %v, but %v in a dry run", err, would)
	}
	if err != nil {
		return revision, err
	}
	want.DryRun, want.Revision = false, got.Revision
	if diff := difference(want, got); diff != "" {
		m.fail("a dry run said (-dry run +import):\n%s", diff)
	}
	if mode == service.ImportCreate && len(d.Flags)+len(d.Segments) > 0 {
		return revision, nil
	}
	again, last, err := m.service.Import(ctx, w, namespace, d, mode, false)
	if err != nil || len(again.Changes) > 0 || last != revision {
		m.fail("imported again: %+v, revision %d after %d, %v", again, last, revision, err)
	}
	return revision, nil
}

// selectSome sets what the request selects of a state, and how.
func (m *model) selectSome(r *service.PlanRequest, from *state) {
	r.Mode = m.mode()
	if !m.one(3) {
		for _, key := range flagKeys {
			if m.one(2) && (from.flags[key] != nil || m.one(15)) {
				r.Flags = append(r.Flags, key)
			}
		}
		for _, key := range flagtest.RandomSegmentKeys {
			if m.one(6) && (from.segments[key] != nil || m.one(15)) {
				r.Segments = append(r.Segments, key)
			}
		}
		if r.Mode == service.ImportReplace && !m.one(10) {
			r.Mode = service.ImportUpdate
		}
	}
	r.WithoutSegments = m.one(5) && (r.Mode != service.ImportReplace || m.one(10))
	if m.one(2) {
		r.Keep = service.Keep{Enabled: m.one(2), Percentages: m.one(2), Rules: m.one(4)}
	}
}

func (m *model) planDocument(s *space) attempt {
	document, source := m.document(s)
	p := &sourcePlan{source: source, names: true}
	m.selectSome(&p.PlanRequest, source)
	p.Namespace, p.Document = s.key, document
	return m.planned("Document", s, p, change.ImportReason())
}

func (m *model) promote(s *space) attempt {
	from := m.spaces[0]
	if from == s {
		from = m.spaces[1]
	}
	p, revision := &sourcePlan{source: from.current()}, from.revision()
	p.Namespace, p.Source = s.key, from.key
	if earlier := m.earlier(from); earlier > 0 && m.one(2) {
		p.source, revision = from.at(earlier), earlier
		p.Source = fmt.Sprintf("%s@%d", from.key, earlier)
	}
	m.selectSome(&p.PlanRequest, p.source)
	return m.planned("Promote", s, p, change.PromotionReason(from.key, revision))
}

func (m *model) restore(s *space) attempt {
	revision := m.earlier(s)
	if revision == 0 {
		return m.createNamespace(s)
	}
	p := &sourcePlan{source: s.at(revision), restores: true, names: true}
	p.Namespace, p.Source = s.key, fmt.Sprintf("%s@%d", s.key, revision)
	m.selectSome(&p.PlanRequest, p.source)
	return m.planned("Restore", s, p, change.RestoreReason(revision))
}

// planned returns the attempt to plan and apply what is brought.
func (m *model) planned(name string, s *space, p *sourcePlan, reason change.Reason) attempt {
	var plan *service.Plan
	r := p.PlanRequest
	return attempt{
		space: s, reason: reason,
		name: fmt.Sprintf("%s from %q (%s) flags: %s segments: %s without segments: %t keep: %+v",
			name, r.Source, r.Mode, describeKeys(r.Flags), describeKeys(r.Segments), r.WithoutSegments, r.Keep),
		run: func(ctx context.Context, w service.Write) (revision int64, err error) {
			plan, revision, err = m.apply(ctx, w, r)
			return revision, err
		},
		expect: func() expectation {
			e := p.outcome(s)
			e.plan = plan
			return e
		},
	}
}

// outcome is into with regard to namespaces that do not exist.
func (p *sourcePlan) outcome(s *space) expectation {
	everything := len(p.Flags)+len(p.Segments) == 0
	switch {
	case p.Mode == service.ImportReplace && (!everything || p.WithoutSegments):
		return failure(guidon.InvalidArgument) // before anything is read
	case p.source.namespace == nil:
		return failure(guidon.NotFound)
	case !s.exists() && p.Document == nil && !(p.restores && everything):
		return failure(guidon.NotFound)
	}
	return p.into(s.current())
}

// apply plans the request and applies the plan, which must then be without effect.
func (m *model) apply(ctx context.Context, w service.Write, r service.PlanRequest) (*service.Plan, int64, error) {
	m.t.Helper()
	plan, _, err := m.service.Plan(ctx, service.Caller{}, service.Demand{}, r, nil)
	if err != nil {
		return nil, 0, err
	}
	if len(plan.Conflicts) > 0 {
		m.fail("%d conflicts", len(plan.Conflicts))
	}
	_, revision, err := m.service.Apply(ctx, w, service.Demand{}, r, expectedOf(plan), nil)
	if err != nil {
		m.fail("planned, but not applied: %v", err)
	}
	if w.DryRun || r.Undo != nil || r.Mode == service.ImportCreate {
		return plan, revision, nil
	}
	again, _, err := m.service.Plan(ctx, service.Caller{}, service.Demand{}, r, nil)
	if err != nil || len(again.Changes) > 0 {
		m.fail("planned again: %+v, %v", again, err)
	}
	return plan, revision, nil
}

// expectedOf returns what an apply of the plan needs.
func expectedOf(p *service.Plan) service.ExpectedPlan {
	e := service.ExpectedPlan{Digest: p.Digest}
	for _, c := range p.Changes {
		e.Changes = append(e.Changes, &service.ExpectedChange{Kind: c.Kind, Key: c.Key, Digest: c.Digest})
	}
	return e
}

// describeKeys returns keys for the list of operations.
func describeKeys(keys []string) string {
	if len(keys) == 0 {
		return "everything"
	}
	return fmt.Sprint(keys)
}
