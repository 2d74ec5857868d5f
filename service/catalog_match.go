package service

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
	"unique"
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

// matcher decides which flags of a catalog match a query.
type matcher struct {
	query                  *parsedQuery
	now                    int64
	owners, tags, segments names // nil if the query does not limit them
}

// names is a set of names.
type names map[unique.Handle[string]]bool

func newMatcher(c *catalog, q *parsedQuery, now int64) *matcher {
	return &matcher{
		query: q, now: now,
		owners: c.totals.owners.listed(q.Owners, strings.EqualFold), tags: c.totals.tags.listed(q.Tags, strings.EqualFold),
		segments: c.totals.segments.listed(q.Segments, func(a, b string) bool { return a == b }),
	}
}

// listed returns the names that are in the list, which is nil if the list is empty.
func (c nameCounts) listed(list []string, same func(a, b string) bool) names {
	if len(list) == 0 {
		return nil
	}
	in := names{}
	for name := range c {
		if slices.ContainsFunc(list, func(one string) bool { return same(name.Value(), one) }) {
			in[name] = true
		}
	}
	return in
}

// misses returns the facets that the flag, a candidate, does not match. It reports whether the
// flag matches everything else. It stops at the second facet that is missed, because the flag then counts
// nowhere.
func (m *matcher) misses(f *flagFacts) (missed facet, rest bool) {
	q := m.query
	if len(q.States) > 0 && !slices.Contains(q.States, f.State) {
		missed |= byState
	}
	if len(q.Types) > 0 && !slices.Contains(q.Types, f.flag.Type) {
		missed |= byType
	}
	if m.owners != nil && !m.owners[f.metadata.owner] {
		missed |= byOwner
	}
	if m.tags != nil && !m.tags.hasAny(f.metadata.tags) {
		missed |= byTag
	}
	if m.segments != nil && !m.segments.hasAny(f.segments) {
		missed |= bySegment
	}
	if missed&(missed-1) != 0 {
		return missed, false
	}
	return missed, m.meets(f) && (!q.additions || f.additions) && m.hasKey(f) && m.hasWords(f)
}

func (in names) hasAny(all []unique.Handle[string]) bool {
	return slices.ContainsFunc(all, func(name unique.Handle[string]) bool { return in[name] })
}

// meets reports whether the flag meets one of the conditions, if there are any.
func (m *matcher) meets(f *flagFacts) bool {
	switch is := m.query.conditions; {
	case is == 0:
		return true
	case is&isUnused != 0 && f.unused(m.now):
		return true
	case is&isOverdue != 0 && f.metadata.overdue(m.now):
		return true
	default:
		return is&isSnoozed != 0 && f.metadata.snoozed(m.now)
	}
}

func (m *matcher) hasKey(f *flagFacts) bool {
	return len(m.query.keys) == 0 || slices.ContainsFunc(m.query.keys, func(start string) bool {
		return len(start) <= len(f.flag.Key) && strings.EqualFold(f.flag.Key[:len(start)], start)
	})
}

// hasWords reports whether all words occur in the flag.
func (m *matcher) hasWords(f *flagFacts) bool {
	return !slices.ContainsFunc(m.query.words, func(word string) bool {
		return !occursIn(word, f.flag.Key, f.flag.Name, f.flag.Description) && !f.metadata.has(word, f.flag)
	})
}

// occursIn reports whether the word occurs in one of the texts, whatever the case.
func occursIn(word string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return indexFold(text, word) >= 0 })
}

// indexFold returns where the word begins in the text, whatever the case, or -1.
func indexFold[T string | json.RawMessage](text T, word string) int {
	if word == "" {
		return 0
	}
	for i := range len(text) - len(word) + 1 {
		if (text[i]|' ' == word[0]|' ' || word[0] >= utf8.RuneSelf) && strings.EqualFold(string(text[i:i+len(word)]), word) {
			return i
		}
	}
	return -1
}
