package service

import (
	"slices"
	"strings"
	"unicode/utf8"
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
	return !slices.ContainsFunc(m.query.words, func(word string) bool {
		return !occursIn(word, f.flag.Key, f.flag.Name, f.flag.Description) && !occursIn(word, f.metadata.searched(f.flag))
	})
}

// occursIn reports whether the word occurs in one of the texts, whatever the case.
func occursIn(word string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return indexFold(text, word) >= 0 })
}

// indexFold returns where the word begins in the text, whatever the case, or -1.
func indexFold(text, word string) int {
	if word == "" {
		return 0
	}
	for i := range len(text) - len(word) + 1 {
		if (text[i]|' ' == word[0]|' ' || word[0] >= utf8.RuneSelf) && strings.EqualFold(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}
