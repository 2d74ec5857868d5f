package service

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// SearchQuery is the query of a search.
type SearchQuery struct {
	Text      string // must occur in a key, name or description, whatever the case; an empty one finds nothing
	Namespace string // whose objects come before others of the same rank; may be empty
	Limit     int32  // of each group; 0 means 8
}

// Limits of a search.
const (
	maxSearchText       = 200 // bytes
	maxSearchHits       = 8   // of each group
	maxSearchNamespaces = 100
)

// Validate returns InvalidArgument if the query breaks a rule.
func (q *SearchQuery) Validate() error {
	if err := checkQuery(q.Text, maxSearchText); err != nil {
		return err
	}
	if q.Limit < 0 || q.Limit > maxSearchHits {
		return invalidField("limit", "must be between 0 and 8")
	}
	return nil
}

// SearchKind is a kind of hits.
type SearchKind uint8

// Kinds of hits.
const (
	SearchFlags SearchKind = iota
	SearchSegments
	SearchOwners
	SearchTags
	SearchNamespaces
	searchKinds
)

// SearchHit is an object that was found.
type SearchHit struct {
	Kind      SearchKind
	Namespace *guidon.Namespace
	Key       string // of an owner or a tag, the text
	Name      string
	Type      guidon.FlagType    // of a flag
	State     analysis.FlagState // of a flag
	Own       analysis.FlagState // of a flag: what its switch turns
	Flags     int                // that have the owner or tag
	rank      searchRank
}

// SearchGroup are hits of one kind.
type SearchGroup struct {
	Hits  []SearchHit // the best
	Total int
}

// SearchResult has the hits of a search.
type SearchResult struct {
	Groups     [searchKinds]SearchGroup
	Namespaces int  // that were searched
	Limited    bool // there are namespaces that were not searched
}

// Search finds objects in the namespaces that the caller may read. It returns
// PermissionDenied if the caller may read none.
func (s *Service) Search(ctx context.Context, by Caller, d Demand, q SearchQuery) (*SearchResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	namespaces, err := s.visibleNamespaces(ctx, by)
	if err != nil {
		return nil, err
	}
	x := newSearch(q)
	if x.want == "" {
		return x.result(), nil
	}
	for _, n := range namespaces {
		if r := rankOf(x.want, n.Key, n.Name, n.Description); r < noMatch {
			x.add(SearchHit{Kind: SearchNamespaces, Namespace: n, Key: n.Key, Name: n.Name, rank: r})
		}
	}
	namespaces = preferred(namespaces, q.Namespace)
	x.limited = len(namespaces) > maxSearchNamespaces
	d.AtLeast = 0 // is of no namespace
	for _, n := range namespaces[:min(len(namespaces), maxSearchNamespaces)] {
		v, err := s.View(ctx, n.Key, d)
		if errors.Is(err, guidon.NotFound) {
			continue // it has been deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		x.searchNamespace(v.Snapshot)
	}
	return x.result(), nil
}

// preferred returns the namespaces with that of the key first.
func preferred(namespaces []*guidon.Namespace, key string) []*guidon.Namespace {
	at := slices.IndexFunc(namespaces, func(n *guidon.Namespace) bool { return n.Key == key })
	if at <= 0 {
		return namespaces
	}
	return slices.Concat(namespaces[at:at+1], namespaces[:at], namespaces[at+1:])
}

// search collects the hits.
type search struct {
	want     string
	first    string // the preferred namespace
	groups   [searchKinds]*top[SearchHit]
	searched int
	limited  bool
}

func newSearch(q SearchQuery) *search {
	x := &search{want: strings.TrimSpace(q.Text), first: q.Namespace}
	limit := int(cmp.Or(q.Limit, maxSearchHits))
	for kind := range x.groups {
		x.groups[kind] = newTop(limit, x.compare)
	}
	return x
}

// compare orders hits: by rank, those in the preferred namespace first, then by name.
func (x *search) compare(a, b SearchHit) int {
	elsewhere := func(h SearchHit) int {
		if h.Namespace.Key == x.first {
			return 0
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(a.rank, b.rank), cmp.Compare(elsewhere(a), elsewhere(b)),
		strings.Compare(a.Name, b.Name), strings.Compare(a.Key, b.Key), strings.Compare(a.Namespace.Key, b.Namespace.Key),
	)
}

// searchNamespace searches a namespace.
func (x *search) searchNamespace(s *guidon.Snapshot) {
	x.searched++
	n := s.Namespace()
	c := catalogs.Of(s)
	for row := range c.byKey.All() {
		if r := rankOf(x.want, row.flag.Key, row.flag.Name, row.flag.Description); r < noMatch {
			x.add(SearchHit{Kind: SearchFlags, Namespace: n, Key: row.flag.Key, Name: row.flag.Name, Type: row.flag.Type, State: row.State, Own: row.Own, rank: r})
		}
	}
	for _, g := range s.Segments() {
		if r := rankOf(x.want, g.Key, g.Name, g.Description); r < noMatch {
			x.add(SearchHit{Kind: SearchSegments, Namespace: n, Key: g.Key, Name: g.Name, rank: r})
		}
	}
	for kind, counts := range map[SearchKind]nameCounts{SearchOwners: c.totals.owners, SearchTags: c.totals.tags} {
		for name, flags := range counts {
			if r := rankOf(x.want, name.Value(), "", ""); r < noMatch {
				x.add(SearchHit{Kind: kind, Namespace: n, Key: name.Value(), Flags: flags, rank: r})
			}
		}
	}
}

func (x *search) add(h SearchHit) { x.groups[h.Kind].add(h) }

func (x *search) result() *SearchResult {
	r := &SearchResult{Namespaces: x.searched, Limited: x.limited}
	for kind, group := range x.groups {
		r.Groups[kind] = SearchGroup{group.items, group.total}
	}
	return r
}

// searchRank is how well a key and a name match, the best first.
type searchRank uint8

const (
	exactKey  searchRank = iota
	beginning            // of the key or the name
	wordBeginning
	within
	described // within the description
	noMatch
)

// rankOf returns how well the key, the name and the description match the text, whatever the case.
func rankOf(want, key, name, description string) searchRank {
	r := min(rankIn(want, key), rankIn(want, name))
	switch {
	case strings.EqualFold(key, want):
		return exactKey
	case r == noMatch && occursIn(want, description):
		return described
	}
	return r
}

func rankIn(want, text string) searchRank {
	found := noMatch
	for from := 0; ; from++ {
		n := indexFold(text[from:], want)
		if n < 0 {
			return found
		}
		from += n
		switch r, _ := utf8.DecodeLastRuneInString(text[:from]); {
		case from == 0:
			return beginning
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			return wordBeginning
		}
		found = within
	}
}
