package flag

import (
	"math"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
)

// The places in the chart, in units of its viewBox.
const (
	chartRight, chartTop, chartBottom = 952, 22, 214
	digit                             = 7 // the width of a digit, at most
)

// chart places the series in a picture.
type chart struct {
	*evaluations
	max   float64   // at the top
	lines []float64 // values that have a line
	left  float64
	paths []string // the bars of each answer, as data of a path
}

// newChart stacks the bars of the answers.
func newChart(m *evaluations) *chart {
	heights := make([]float64, m.bars)
	for _, a := range m.answers {
		for bar, n := range a.bars {
			heights[bar] += n
		}
	}
	c := &chart{evaluations: m}
	highest := 0.0
	for _, h := range heights {
		highest = max(highest, h)
	}
	step := roundStep(highest / 3)
	for c.max < highest {
		c.max += step
		c.lines = append(c.lines, c.max)
	}
	c.left = float64(digit * (len(number(c.max)) + 2))
	clear(heights)
	for _, a := range m.answers {
		var path strings.Builder
		for bar, n := range a.bars {
			if n > 0 {
				path.WriteString("M" + place(c.x(float64(bar)+0.5)) + " " + place(c.y(heights[bar])))
				heights[bar] += n
				path.WriteString("V" + place(c.y(heights[bar])))
			}
		}
		c.paths = append(c.paths, path.String())
	}
	return c
}

// roundStep returns the least round number that is not below n: 1, 2 or 5 times a power of ten.
func roundStep(n float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(max(n, 1))))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= n {
			return factor * power
		}
	}
	return 10 * power
}

// place returns a place in the picture as text.
func place(n float64) string { return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0") }

// x returns the place of a number of bars from the left.
func (c *chart) x(bars float64) float64 { return c.left + bars*c.barWidth() }

func (c *chart) barWidth() float64 { return (chartRight - c.left) / float64(c.bars) }

// y returns the place of a value.
func (c *chart) y(value float64) float64 { return chartBottom - value/c.max*(chartBottom-chartTop) }

// label describes the chart.
func (c *chart) label() string {
	return "Evaluations by answer, last " + c.text + ". The table below has the same numbers."
}

// tick is the time of a bar, below it.
type tick struct{ x, text string }

func (c *chart) ticks() (ticks []tick) {
	zone := c.zone(c.v.Location())
	for bar := range c.bars {
		if at := c.series.at(bar).In(zone); c.tick(at) {
			ticks = append(ticks, tick{place(c.x(float64(bar) + 0.5)), at.Format(c.tickForm)})
		}
	}
	return ticks
}

// mark is a change of the flag.
type mark struct {
	x, address, title string
	left              string // of the area of its link
	text              string // above it, or "" if another one is too near
}

// maxSummary limits the summary of a change in a mark, in bytes.
const maxSummary = 80

func (c *chart) marks() (marks []mark) {
	free := math.Inf(1)
	for _, r := range c.changes {
		revision := page.Revision(r.GetRevision())
		x := c.x(float64(r.GetAt().AsTime().Sub(c.start)) / float64(c.length()))
		m := mark{x: place(x), left: place(x - 6), address: c.address("history", revision)}
		m.title = "Revision " + revision + ", " + page.ActorOf(r.GetActor()).Name + ": " + guidon.Shorten(r.GetSummary(), maxSummary)
		if width := float64(digit * (len(revision) + 1)); x+width/2 <= free {
			m.text, free = revision, x-width/2
		}
		marks = append(marks, m)
	}
	return marks
}
