package evaluations

import (
	"math"
	"net/http"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/flag"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// model is the page.
type model struct {
	*series
	v       *page.Visit
	head    templ.Component
	lastDay float64 // how often the flag was evaluated in 24 hours
}

// show shows the evaluations of a flag.
func show(v *page.Visit) error {
	content, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: v.Key(), Key: v.Variable("flag")})
	if err != nil {
		return err
	}
	f := content.GetFlag()
	m := &model{v: v}
	if m.series, err = readSeries(v, f, spanOf(v.Query().Get(fieldRange))); err != nil {
		return err
	}
	lastDay, err := page.LastDay(v, f.GetKey())
	if err != nil {
		return err
	}
	m.lastDay = lastDay[f.GetKey()].Total()
	name, head, err := flag.Head(v, f.GetKey(), "evaluations")
	if err != nil {
		return err
	}
	m.head = head
	return v.Reply(http.StatusOK, page.Page{
		Title: "Evaluations of " + name, Place: page.PlaceFlags, Main: main(m),
		Crumbs: []page.Crumb{
			{Text: "Flags", Address: v.In("flags")}, {Text: f.GetKey(), Address: v.In("flags", f.GetKey())}, {Text: "Evaluations"},
		},
	})
}

// address returns the address of the page of the flag.
func (m *model) address(segments ...string) string {
	return m.v.In(append([]string{"flags", m.flag.GetKey()}, segments...)...)
}

// sinceText returns the day on which counting began, in words.
func (m *model) sinceText() string { return m.since.AsTime().In(m.v.Location()).Format("2 Jan 2006") }

// nobody says that there is nothing to show.
func (m *model) nobody() string {
	switch {
	case m.since == nil:
		return "Nothing has been counted yet."
	case m.lastAt == nil:
		return "Nobody has evaluated this flag since counting began on " + m.sinceText() + "."
	}
	return "Nobody has evaluated this flag in the last " + m.text + "."
}

// share returns the share of an answer in words.
func (m *model) share(a *answer) string {
	percent := math.Round(1000*a.total/m.total) / 10
	if percent == 0 {
		return "<0.1%"
	}
	return page.Percent(percent)
}

// row returns the time of a bar for the table.
func (m *model) row(bar int) string {
	text := m.at(bar).In(m.zone(m.v.Location())).Format(m.rowForm)
	if m.partial && bar == m.bars-1 {
		text += ", until now"
	}
	return text
}

// number returns a number of evaluations in words.
func number(n float64) string { return page.Number(int(n)) }
