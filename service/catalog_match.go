package service

import (
	"slices"
	"strings"
)

// facet is a part of a filter whose values are counted.
type facet uint8

// Facets, as bits.
const (
	byState facet = 1 << iota
	byType
	byOwner
	byTag
	bySegment
)

// matcher decides which rows of a catalog match a query.
type matcher struct {
	query                  *parsedQuery
	now                    int64
	owners, tags, segments []bool // by number; nil if the query does not limit them
}

func newMatcher(c *catalog, q *parsedQuery, now int64) *matcher {
	return &matcher{
		query: q, now: now,
		owners: listed(c.owners.all(), q.Owners, strings.EqualFold), tags: listed(c.tags.all(), q.Tags, strings.EqualFold),
		segments: listed(c.segments.all(), q.Segments, func(a, b string) bool { return a == b }),
	}
}

// listed reports for each name whether it is in the list, which is nil if it is empty.
func listed(names, list []string, same func(a, b string) bool) []bool {
	if len(list) == 0 {
		return nil
	}
	in := make([]bool, len(names))
	for i, name := range names {
		in[i] = slices.ContainsFunc(list, func(one string) bool { return same(name, one) })
	}
	return in
}

// misses returns the facets that the row, a candidate, does not match. It reports whether the
// row matches everything else. It stops at the second facet that is missed, because the row then counts
// nowhere.
func (m *matcher) misses(r *catalogRow) (missed facet, rest bool) {
	q := m.query
	if len(q.States) > 0 && !slices.Contains(q.States, r.state) {
		missed |= byState
	}
	if len(q.Types) > 0 && !slices.Contains(q.Types, r.kind) {
		missed |= byType
	}
	if m.owners != nil && !m.owners[r.owner] {
		missed |= byOwner
	}
	if m.tags != nil && !hasAny(r.tagNumbers(), m.tags) {
		missed |= byTag
	}
	if m.segments != nil && !hasAny(r.segmentNumbers(), m.segments) {
		missed |= bySegment
	}
	if missed&(missed-1) != 0 {
		return missed, false
	}
	return missed, m.meets(r) && (!q.additions || r.additions) && m.hasKey(r) && m.hasWords(r.flagFacts)
}

func hasAny(numbers []uint32, in []bool) bool {
	return slices.ContainsFunc(numbers, func(n uint32) bool { return in[n] })
}

// meets reports whether the row meets one of the conditions, if there are any.
func (m *matcher) meets(r *catalogRow) bool {
	switch is := m.query.conditions; {
	case is == 0:
		return true
	case is&isUnused != 0 && r.unused(m.now):
		return true
	case is&isOverdue != 0 && r.metadata.overdue(m.now):
		return true
	default:
		return is&isSnoozed != 0 && r.metadata.snoozed(m.now)
	}
}

func (m *matcher) hasKey(r *catalogRow) bool {
	return len(m.query.keys) == 0 || slices.ContainsFunc(m.query.keys, func(start string) bool {
		return len(start) <= len(r.flag.Key) && strings.EqualFold(r.flag.Key[:len(start)], start)
	})
}

// hasWords reports whether all words occur in the flag.
func (m *matcher) hasWords(f *flagFacts) bool {
	for i := range m.query.words {
		word := &m.query.words[i]
		if !word.occursIn(f.flag.Key) && !word.occursIn(f.flag.Name) && !word.occursIn(f.flag.Description) && !f.metadata.has(word, f.flag) {
			return false
		}
	}
	return true
}
