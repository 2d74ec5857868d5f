package servicetest

import (
	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// checkDraft merges an edit of a flag that began at an earlier revision with what was saved since.
func (m *model) checkDraft(s *space) {
	m.t.Helper()
	since, key := m.earlier(s), m.flagKey()
	if since == 0 {
		return
	}
	base, now := s.at(since).flags[key], s.current().flags[key]
	mine := m.source.Flag(key)
	if base != nil {
		if mine = base; !m.one(4) {
			mine = m.source.EditFlag(base)
		}
	}
	r := service.MergeRequest[guidon.Flag]{Namespace: s.key, Key: key, Since: since, Mine: service.FlagDocument(mine).Flags[0]}
	got := m.mergeDraft(r)
	var want *guidon.Flag
	switch {
	case base == nil && now == nil, base != nil && flagRules.same(exact, base, now):
		if want = mine; len(got.Theirs) > 0 {
			m.fail("draft of %s since %d: they have changed nothing: %+v", key, since, got.Theirs)
		}
	case base != nil && now != nil && flagRules.same(order, base, mine):
		if want = now; len(got.Mine) > 0 {
			m.fail("draft of %s since %d: it changes nothing: %+v", key, since, got.Mine)
		}
	case len(got.Conflicts) > 0:
		for _, side := range []change.Side{change.Ours, change.Theirs} {
			r.Choices = change.ResolveAll(got.Conflicts, side)
			if rest := m.mergeDraft(r); len(rest.Conflicts) > 0 {
				m.fail("draft of %s since %d: all is resolved for %s but %+v", key, since, side, rest.Conflicts)
			}
		}
		return
	case base == nil || now == nil:
		return
	}
	if len(got.Conflicts) > 0 || got.Merged == nil {
		m.fail("draft of %s since %d: %+v", key, since, got)
	}
	merged := m.stored(got.Merged)
	if want == nil {
		want = flagtest.Copy(merged)
		u := &objectMerge{}
		want.Name = field(u, "name", base.Name, now.Name, mine.Name)
		want.Description = field(u, "description", base.Description, now.Description, mine.Description)
		want.Type = field(u, "type", base.Type, now.Type, mine.Type)
		want.Enabled = field(u, "enabled", base.Enabled, now.Enabled, mine.Enabled)
	}
	if diff := flagRules.differ(order, nil, want, merged); diff != "" {
		m.fail("draft of %s since %d (-want +got):\n%s", key, since, diff)
	}
}

func (m *model) mergeDraft(r service.MergeRequest[guidon.Flag]) *service.Merge[guidon.Flag] {
	m.t.Helper()
	merge, _, err := m.service.MergeFlag(m.t.Context(), service.Demand{}, r, nil)
	if err != nil {
		m.fail("draft of %s since %d: %v", r.Key, r.Since, err)
	}
	return merge
}

// stored returns the flag of a document as it would be stored.
func (m *model) stored(f *guidon.Flag) *guidon.Flag {
	m.t.Helper()
	objects, err := (&service.Document{Flags: []*guidon.Flag{f}}).Objects()
	if err != nil {
		m.fail("%v", err)
	}
	return objects.Flags[0]
}
