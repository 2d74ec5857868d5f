package flag

import (
	"math"
	"net/http"

	"github.com/guidonhq/guidon/handler/web/page"
)

// evaluations is the page with how often the flag was evaluated, and what it answered.
type evaluations struct {
	*subject
	*series
	lastDay float64 // how often the flag was evaluated in 24 hours
}

// getEvaluations shows the evaluations of a flag.
func getEvaluations(v *page.Visit, s *subject) error {
	series, err := readSeries(v, s.flag, spanOf(v.Query().Get(fieldRange)))
	if err != nil {
		return err
	}
	lastDay, err := page.LastDay(v, s.key)
	if err != nil {
		return err
	}
	if _, err := s.remarks(); err != nil {
		return err
	}
	p := s.plainPage("Evaluations", evaluationsMain(&evaluations{s, series, lastDay[s.key].Total()}))
	p.Title = "Evaluations of " + s.name()
	return v.Reply(http.StatusOK, p)
}

// sinceText returns the day on which counting began, in words.
func (m *evaluations) sinceText() string {
	return m.since.AsTime().In(m.v.Location()).Format("2 Jan 2006")
}

// nobody says that there is nothing to show.
func (m *evaluations) nobody() string {
	switch {
	case m.since == nil:
		return "Nothing has been counted yet."
	case m.lastAt == nil:
		return "Nobody has evaluated this flag since counting began on " + m.sinceText() + "."
	}
	return "Nobody has evaluated this flag in the last " + m.text + "."
}

// share returns the share of an answer in words.
func (m *evaluations) share(a *answer) string {
	percent := math.Round(1000*a.total/m.total) / 10
	if percent == 0 {
		return "<0.1%"
	}
	return page.Percent(percent)
}

// row returns the time of a bar for the table.
func (m *evaluations) row(bar int) string {
	text := m.series.at(bar).In(m.zone(m.v.Location())).Format(m.rowForm)
	if m.partial && bar == m.bars-1 {
		text += ", until now"
	}
	return text
}

// number returns a number of evaluations in words.
func number(n float64) string { return page.Number(int(n)) }
