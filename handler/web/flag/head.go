package flag

import (
	"net/url"
	"strconv"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
)

// regionName is the name of the part of the page that changes with the draft.
const regionName = "flag"

// page returns a page of the flag.
func (s *subject) page(main templ.Component) page.Page {
	p := s.plainPage(s.name(), main)
	p.Crumbs = []page.Crumb{{Text: "Flags", Address: s.v.In("flags")}, {Text: s.key}}
	p.Live = s.at == 0
	if p.Live {
		p.Object, p.Modules = "flag/"+s.key, []string{"draft.js"}
	}
	p.Main = region(main)
	p.Regions = map[string]templ.Component{regionName: p.Main}
	return p
}

// plainPage returns a page about the flag with a title of its own.
func (s *subject) plainPage(title string, main templ.Component) page.Page {
	return page.Page{
		Title: title, Place: page.PlaceFlags, Main: main,
		Crumbs: []page.Crumb{{Text: "Flags", Address: s.v.In("flags")}, {Text: s.key, Address: s.address()}, {Text: title}},
	}
}

// postFavorite makes the flag a favorite of the visitor, or no longer one.
func postFavorite(v *page.Visit, form url.Values) error {
	s, err := read(v)
	if err != nil {
		return err
	}
	return v.SetFavorite(s.key, s.name(), form)
}

// tabs returns the links to the tabs of the flag, of which the one with the name is current.
func (s *subject) tabs(current string) (links []part.Link) {
	add := func(name, text, count string, path ...string) {
		links = append(links, part.Link{Text: text, Address: s.address(path...), Current: name == current, Count: count})
	}
	rules := len(s.flag.GetRules())
	if s.boolean() {
		rules = len(s.flag.GetRollouts())
	}
	add("targeting", "Targeting", strconv.Itoa(rules))
	if s.at != 0 {
		links[0].Address += "?at=" + page.Revision(s.at)
		return links
	}
	if !s.boolean() {
		add("variants", "Variants", strconv.Itoa(len(s.flag.GetVariants())), "variants")
	}
	add("history", "History", "", "history")
	if s.v.Site.Counts {
		add("evaluations", "Evaluations", "", "evaluations")
	}
	if len(s.v.Namespaces) > 1 {
		add("namespaces", "Namespaces", "", "namespaces")
	}
	add("code", "Code", "", "code")
	add("details", "Details", "", "details")
	return links
}

// flips reports whether the head has a switch, which cannot show that others keep the flag off.
func (s *subject) flips() bool {
	return !s.boolean() && s.mayEdit() && !s.asks && s.state == s.own
}

// readOnlyReason returns why the visitor may not edit the flag.
func (s *subject) readOnlyReason() string {
	if s.v.Site.ReadOnly {
		return "This server is read-only."
	}
	return "Your role in " + page.NamespaceName(s.v.Namespace) + " is " + page.RoleLabel(s.v.RoleIn(s.v.Key())) +
		". Ask an administrator for Edit."
}

// maxUses limits the rows of a list in the rail.
const maxUses = 50

// wasOutside returns the share of an outcome outside of the segments without the draft.
func (l *ladder) wasOutside(name string) string {
	for _, s := range l.stored.outside() {
		if s.Name == name {
			return s.Text
		}
	}
	return "0%"
}

// Head returns the name of a flag, and the head above a tab that is a page of another package.
func Head(v *page.Visit, key, tab string) (name string, head templ.Component, err error) {
	s, err := readFlag(v, key)
	if err != nil {
		return "", nil, err
	}
	_, err = s.remarks()
	return s.name(), s.head(tab), err
}
