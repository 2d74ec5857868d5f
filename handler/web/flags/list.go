package flags

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// list is the model of the list of flags.
type list struct {
	filter   filter
	rows     []row
	total    int // that match
	all      int // of the namespace
	last     int // number of the last page
	menus    []menu
	chips    []part.Link    // the filters that are active; their addresses remove them
	note     string         // why no flags are the visitor's, or ""
	near     []page.Similar // flags with similar keys
	mayEdit  bool
	unplaced bool                 // the page is beyond the last one
	days     map[string]*page.Day // the evaluations of the rows by key; nil if they are not known
}

// row is a flag in the list.
type row struct {
	Key, Name  string
	Address    string
	Variant    bool
	State      part.State
	Own        part.State   // what its switch turns
	Shares     []part.Share // the results of everyone else
	More       int          // shares that are not among them
	WhileOff   string       // the result of a variant flag that is off
	Segment    part.Link    // the first one that it targets
	Segments   int          // how many more
	Owner      string
	Author     string // who changed it last
	Token      bool
	UpdatedAt  time.Time
	Unreadable string // why every evaluation fails, or ""
	Blank      bool   // only the key is known
}

// menu is a filter to choose from.
type menu struct {
	Name    string
	Options []part.Link
	Wide    bool // left out if the window is narrow
}

// showList shows the list.
func showList(v *page.Visit) error {
	exists := func(key string) bool {
		_, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: key})
		return err == nil
	}
	if v.Opens(page.PlaceFlags, exists) {
		return nil
	}
	f := filterOf(v.Query())
	request := f.request(v.Key())
	note, err := f.limitToMine(v, request)
	if err != nil {
		return err
	}
	found, err := page.ListFlagSummaries.Run(v, request)
	if err != nil {
		return err
	}
	l := newList(v, f, found)
	l.note = note
	if err := l.addAuthors(v); err != nil {
		return err
	}
	l.addDays(v)
	p := page.Page{
		Title: "Flags", Place: page.PlaceFlags, Crumbs: []page.Crumb{{Text: "Flags"}}, Main: listMain(v, l), Live: true,
		Modules: []string{"list.js"}, Regions: map[string]templ.Component{"list": listRegion(v, l)},
	}
	return v.Reply(http.StatusOK, p)
}

func newList(v *page.Visit, f filter, found *guidonv1.FlagSummaryList) *list {
	l := &list{
		filter: f, total: int(found.GetTotalCount()), all: int(found.GetNamespaceCount()), mayEdit: v.MayEdit(),
		last: max(1, (int(found.GetTotalCount())+perPage-1)/perPage),
	}
	l.unplaced = f.page > l.last
	for _, s := range found.GetFlags() {
		l.rows = append(l.rows, newRow(v, s))
	}
	for _, s := range found.GetSuggestions() {
		l.near = append(l.near, page.Similar{Name: cmp.Or(s.GetName(), s.GetKey()), Address: v.In("flags", s.GetKey())})
	}
	l.addMenus(v, found.GetFacets())
	l.addChips(v, found.GetFacets())
	return l
}

func newRow(v *page.Visit, s *guidonv1.FlagSummary) row {
	r := row{
		Key: s.GetKey(), Name: cmp.Or(s.GetName(), s.GetKey()), Address: v.In("flags", s.GetKey()),
		Variant: s.GetType() == flipt.FlagType_VARIANT_FLAG_TYPE, State: page.StateOf(s.GetState()), Own: page.OwnStateOf(s.GetState(), s.OwnState),
		Owner: s.GetOwner(), UpdatedAt: s.GetUpdatedAt().AsTime(), Unreadable: s.GetUnreadable(),
		Blank: s.GetUpdatedAt() == nil,
	}
	if first := s.GetFirstSegment(); first != nil {
		r.Segment = part.Link{Text: cmp.Or(first.GetName(), first.GetKey()), Address: v.In("segments", first.GetKey())}
		r.Segments = int(s.GetSegmentCount()) - 1
	}
	if off := s.GetWhileOff(); off != nil {
		r.WhileOff = page.ShareName(r.Variant, off)
		return r
	}
	all := s.GetEveryoneElse()
	largest := all[:min(len(all), maxShares)]
	r.Shares, r.More = page.SharesOf(r.Variant, largest), int(s.GetMoreShares())+len(all)-len(largest)
	return r
}

// maxShares limits the shares of a row. The flag's page has all.
const maxShares = 3

// keys returns the keys of the rows.
func (l *list) keys() []string { return lists.Map(l.rows, func(r row) string { return r.Key }) }

// addAuthors adds the authors of the last changes of the rows.
func (l *list) addAuthors(v *page.Visit) error {
	byKey, err := page.NewestChanges(v, "flag", l.keys()...)
	for i := range l.rows {
		if c := byKey[l.rows[i].Key]; c != nil {
			actor := page.ActorOf(c.GetActor())
			l.rows[i].Author, l.rows[i].Token = actor.Name, actor.Token
		}
	}
	return err
}

// addDays adds the evaluations of the rows. The list does without them if they cannot be read.
func (l *list) addDays(v *page.Visit) {
	if !v.Site.Counts || len(l.rows) == 0 || v.Away() {
		return
	}
	if days, err := page.LastDay(v, l.keys()...); err == nil {
		l.days = days
	}
}

// addMenus adds the filters to choose from.
func (l *list) addMenus(v *page.Visit, facets *guidonv1.FlagFacets) {
	state, kind := menu{Name: "State"}, menu{Name: "Type"}
	for _, s := range facets.GetStates() {
		state.Options = append(state.Options,
			l.option(v, fieldState, valueOf(states, s.GetState()), page.StateOf(s.GetState()).String(), page.Number(int(s.GetCount()))))
	}
	for _, t := range facets.GetTypes() {
		value := valueOf(types, t.GetType())
		kind.Options = append(kind.Options, l.option(v, fieldType, value, page.Capital(value), page.Number(int(t.GetCount()))))
	}
	l.menus = []menu{
		l.mine(v), state, kind, l.facet(v, "Owner", fieldOwner, facets.GetOwners()), l.facet(v, "Segment", fieldSegment, facets.GetSegments()),
		l.facet(v, "Tag", fieldTag, facets.GetTags()),
	}
	l.menus = slices.DeleteFunc(l.menus, func(m menu) bool { return len(m.Options) == 0 })
}

func (l *list) facet(v *page.Visit, name, field string, counts []*guidonv1.FacetCount) menu {
	m := menu{Name: name, Wide: field != fieldOwner}
	for _, c := range counts {
		text := cmp.Or(c.GetName(), c.GetValue())
		if field == fieldOwner && text == "" {
			text = "Without owner"
		}
		m.Options = append(m.Options, l.option(v, field, c.GetValue(), text, page.Number(int(c.GetCount()))))
	}
	return m
}

func (l *list) option(v *page.Visit, field, value, text, count string) part.Link {
	chosen := slices.Contains(l.filter.query[field], value)
	return part.Link{Text: text, Address: l.filter.toggled(v, field, value), Current: chosen, Count: count}
}

// valueOf returns the key of a value, which the map must have.
func valueOf[V comparable](m map[string]V, value V) string {
	for key, other := range m {
		if other == value {
			return key
		}
	}
	return ""
}

// addChips adds the filters that are active.
func (l *list) addChips(v *page.Visit, facets *guidonv1.FlagFacets) {
	names := make(map[string]string)
	for _, s := range facets.GetSegments() {
		names[s.GetValue()] = s.GetName()
	}
	for _, field := range filterFields {
		for _, value := range l.filter.query[field] {
			text := value
			switch {
			case field == fieldState:
				text = page.StateOf(states[value]).String()
			case field == fieldOwner && value == "":
				text = "nobody"
			case field == fieldSegment:
				text = cmp.Or(names[value], value)
			case field == fieldMine:
				text = mineTexts[value]
			}
			l.chips = append(l.chips, part.Link{Text: page.Capital(field) + ": " + text, Address: l.filter.toggled(v, field, value)})
		}
	}
}

// announcement says how many flags there are.
func (l *list) announcement() string {
	if l.filter.selects() {
		return page.Count(l.total, "flag") + " of " + page.Number(l.all)
	}
	return page.Count(l.total, "flag")
}

// bounds says which rows a page of flags has, of how many.
func bounds(number, rows, total int) string {
	first := (number-1)*perPage + 1
	return page.Number(first) + "–" + page.Number(first+rows-1) + " of " + page.Number(total)
}

// sortedBy returns the value of aria-sort of the column with the order, or "".
func (l *list) sortedBy(sort guidonv1.FlagSort) string {
	order := sorts[l.filter.order()]
	switch {
	case order.sort != sort:
		return ""
	case order.descending:
		return "descending"
	}
	return "ascending"
}

// resort returns the address with the order of a column, reversed if it is that already.
func (l *list) resort(v *page.Visit, value, reverse string) string {
	if sorts[l.filter.order()].value == value {
		value = reverse
	}
	return l.filter.sorted(v, value)
}

// orders returns the links to the orders of the list.
func (l *list) orders(v *page.Visit) (links []part.Link) {
	for i, s := range sorts {
		links = append(links, part.Link{Text: s.text, Address: l.filter.sorted(v, s.value), Current: i == l.filter.order()})
	}
	return links
}
