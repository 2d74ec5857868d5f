package flags

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// perGroup is how many results of a kind are shown, and maxStarred how many favorites: those whose
// flags exist of the latest maxRead.
const perGroup, maxStarred, maxRead = 8, 20, 100

// searchGroup are the results of one kind.
type searchGroup struct {
	Name    string
	Results []searchResult
	More    int // that are not shown
}

// searchResult is something to go to.
type searchResult struct {
	ID      string // of the element in the palette
	Icon    string
	Text    string
	Small   string // the key, or what it is
	Right   string // the state of a flag, or the namespace if it is another one
	Address string
	Flag    *part.Sign
	Starred bool // it is a favorite
	Creates bool // it is never the one that the key Enter follows unless it was chosen
}

// showSearch shows the matches of the query.
func showSearch(v *page.Visit) error {
	query, namespace := v.Query().Get("q"), cmp.Or(v.Query().Get("namespace"), v.Current().GetKey())
	var found *guidonv1.SearchResponse
	if query != "" {
		var err error
		if found, err = page.SearchAll.Run(v, &guidonv1.SearchRequest{Query: query, NamespaceKey: namespace, Limit: perGroup}); err != nil {
			return err
		}
	}
	s := &searcher{visit: v, namespace: v.NamespaceWith(namespace)}
	groups := s.groups(query, found)
	return v.Reply(http.StatusOK, page.Page{
		Title: "Search", Place: page.PlaceSearch, Crumbs: []page.Crumb{{Text: "Search"}},
		Main:    searchMain(v, query, groups, found.GetLimited()),
		Regions: map[string]templ.Component{"options": searchOptions(groups, query)},
	})
}

// searcher converts matches to results.
type searcher struct {
	visit     *page.Visit
	namespace *flipt.Namespace // which the visitor is in; may be nil
	next      int              // the number of the next result
}

// groups returns the results in the order of the page. Without a query they are the places
// to go to.
func (s *searcher) groups(query string, found *guidonv1.SearchResponse) []searchGroup {
	if query == "" {
		return slices.DeleteFunc([]searchGroup{s.favorites(), s.places()}, func(g searchGroup) bool { return len(g.Results) == 0 })
	}
	all := []searchGroup{
		s.group("Flags", found.GetFlags()), s.group("Segments", found.GetSegments()), s.group("Owners", found.GetOwners()),
		s.group("Tags", found.GetTags()), s.group("Namespaces", found.GetNamespaces()), s.acts(query, found.GetFlags().GetHits()),
	}
	return slices.DeleteFunc(all, func(g searchGroup) bool { return len(g.Results) == 0 })
}

func (s *searcher) group(name string, found *guidonv1.SearchGroup) searchGroup {
	g := searchGroup{Name: name, More: int(found.GetTotalCount()) - len(found.GetHits())}
	for _, hit := range found.GetHits() {
		g.Results = append(g.Results, s.result(hit))
	}
	return g
}

// result returns where a hit leads.
func (s *searcher) result(hit *guidonv1.SearchHit) searchResult {
	r := searchResult{ID: s.id(), Text: cmp.Or(hit.GetName(), hit.GetKey()), Small: hit.GetKey()}
	in := func(segments ...string) string {
		return s.visit.To(append([]string{"namespaces", hit.GetNamespaceKey()}, segments...)...)
	}
	if hit.GetNamespaceKey() != s.namespace.GetKey() {
		r.Right = cmp.Or(hit.GetNamespaceName(), hit.GetNamespaceKey())
	}
	switch hit.GetKind() {
	case guidonv1.SearchHitKind_SEGMENT_SEARCH_HIT_KIND:
		r.Icon, r.Address = "segment", in("segments", hit.GetKey())
	case guidonv1.SearchHitKind_OWNER_SEARCH_HIT_KIND:
		r.Icon, r.Small = "person", page.Count(int(hit.GetFlagCount()), "flag")
		r.Address = in("flags") + "?" + url.Values{"owner": {hit.GetKey()}}.Encode()
	case guidonv1.SearchHitKind_TAG_SEARCH_HIT_KIND:
		r.Icon, r.Small = "flag", page.Count(int(hit.GetFlagCount()), "flag")
		r.Address = in("flags") + "?" + url.Values{"tag": {hit.GetKey()}}.Encode()
	case guidonv1.SearchHitKind_NAMESPACE_SEARCH_HIT_KIND:
		r.Icon, r.Right, r.Address = "open", "", s.visit.To("namespaces", hit.GetKey(), "flags")
	default:
		r.Flag = &part.Sign{Variant: hit.GetType() == flipt.FlagType_VARIANT_FLAG_TYPE, State: page.StateOf(hit.GetState())}
		r.Address = in("flags", hit.GetKey())
		r.Right = cmp.Or(r.Right, r.Flag.State.String())
	}
	return r
}

// acts returns the actions on the first flag, and with the query.
func (s *searcher) acts(query string, flags []*guidonv1.SearchHit) searchGroup {
	g := searchGroup{Name: "Do"}
	add := func(icon, text, small, address string) {
		g.Results = append(g.Results, searchResult{ID: s.id(), Icon: icon, Text: text, Small: small, Address: address})
	}
	if len(flags) > 0 {
		first := flags[0]
		name := cmp.Or(first.GetName(), first.GetKey())
		add("playground", "Try "+name, "in the playground",
			s.visit.To("namespaces", first.GetNamespaceKey(), "playground")+"?"+url.Values{"flag": {first.GetKey()}}.Encode())
		if s.visit.MayEditIn(first.GetNamespaceKey()) {
			verb := page.OwnStateOf(first.GetState(), first.OwnState).Switch()
			add("flag", verb+" "+name, "asks first", s.visit.To("namespaces", first.GetNamespaceKey(), "flags", first.GetKey(), "turn-off"))
		}
	}
	if s.namespace != nil && s.visit.MayEditIn(s.namespace.GetKey()) {
		add("add", fmt.Sprintf("New flag “%s”", query), "in "+page.NamespaceName(s.namespace),
			s.visit.To("namespaces", s.namespace.GetKey(), "new-flag")+"?"+url.Values{"name": {query}}.Encode())
		g.Results[len(g.Results)-1].Creates = true
	}
	return g
}

// favorites returns the latest favorites of the visitor. There are none if they cannot be read.
func (s *searcher) favorites() searchGroup {
	g := searchGroup{Name: "Favorites"}
	all, _ := s.visit.Favorites()
	all = all[:min(len(all), maxRead)]
	signs, _ := page.SignsOfFavorites(s.visit, all)
	for _, f := range all {
		sign := signs[f]
		if sign == nil || len(g.Results) == maxStarred {
			continue
		}
		r := searchResult{ID: s.id(), Flag: sign, Text: cmp.Or(sign.Name, f.Key), Small: f.Key, Right: sign.State.String(), Starred: true}
		r.Address = s.visit.To("namespaces", f.Namespace, "flags", f.Key)
		if f.Namespace != s.namespace.GetKey() {
			r.Right = page.NamespaceName(s.visit.NamespaceWith(f.Namespace))
		}
		g.Results = append(g.Results, r)
	}
	return g
}

// places returns the places of the namespace and of the settings.
func (s *searcher) places() searchGroup {
	g := searchGroup{Name: "Go to"}
	add := func(icon, text, small, address string) {
		g.Results = append(g.Results, searchResult{ID: s.id(), Icon: icon, Text: text, Small: small, Address: address})
	}
	if s.namespace != nil {
		key, name := s.namespace.GetKey(), page.NamespaceName(s.namespace)
		for _, link := range s.visit.Places(key) {
			add(link.Icon, link.Text, name, link.Address)
		}
		add("import", "Import", name, s.visit.To("namespaces", key, "import"))
		add("export", "Export", name, s.visit.To("namespaces", key, "export"))
	}
	add("settings", "Settings", "", s.visit.To("settings", "profile"))
	add("info", "Keyboard shortcuts", "", s.visit.To("shortcuts"))
	return g
}

func (s *searcher) id() string {
	s.next++
	return fmt.Sprintf("option-%d", s.next)
}
