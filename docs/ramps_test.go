package docs_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
)

// TestRamps is [TestBuckets] for the pictures of ramps.
func TestRamps(t *testing.T) {
	for _, theme := range themes {
		checkGenerated(t, filepath.Join("pictures", "ramps-"+theme.name+".svg"), drawRamps(t, theme))
	}
}

// rampStart is when the ramps of the picture start.
var rampStart = time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)

const rampDays = 5 // in the picture

// rampCourse is a ramp with the actions on it.
type rampCourse struct {
	title   string
	ramp    *guidon.Ramp
	target  float32
	actions []rampAction
}

// rampAction changes a ramp some hours after its start.
type rampAction struct {
	hour   int
	change func(r *guidon.Ramp, now time.Time) (*guidon.Ramp, error)
}

func rampCourses() []rampCourse {
	over := &guidon.Ramp{Start: rampStart, Over: 72 * time.Hour}
	steps := &guidon.Ramp{
		Start: rampStart, Steps: []guidon.RampStep{{Percentage: 5, For: 24 * time.Hour}, {Percentage: 25, For: 24 * time.Hour}},
		Confirm: &guidon.RampConfirm{Every: 12 * time.Hour, Lapse: guidon.BackRamp},
	}
	return []rampCourse{
		{"100 % in three days", over, 100, nil},
		{"the same, paused for a day", over, 100, []rampAction{{24, (*guidon.Ramp).Pause}, {48, (*guidon.Ramp).Resume}}},
		{"the same, reversed after two days", over, 100, []rampAction{{48, (*guidon.Ramp).Reverse}}},
		{"in steps, last confirmed after 30 hours", steps, 50, []rampAction{
			{10, (*guidon.Ramp).Confirmed}, {20, (*guidon.Ramp).Confirmed}, {30, (*guidon.Ramp).Confirmed},
		}},
	}
}

// percentages returns the percentage of each hour of the picture, from the engine.
func (c rampCourse) percentages(t *testing.T) (all []float32) {
	t.Helper()
	ramp, actions := c.ramp, c.actions
	for hour := range 24 * rampDays {
		at := rampStart.Add(time.Duration(hour) * time.Hour)
		if len(actions) > 0 && actions[0].hour == hour {
			next, err := actions[0].change(ramp, at)
			if err != nil {
				t.Fatalf("%s, hour %d: %v", c.title, hour, err)
			}
			ramp, actions = next, actions[1:]
		}
		all = append(all, ramp.PercentageAt(at.Unix(), c.target))
	}
	return all
}

// drawRamps returns the picture of the ramps, two next to each other.
func drawRamps(t *testing.T, c theme) string {
	t.Helper()
	const chartWidth, chartHeight, row = 350, 100, 172
	var svg strings.Builder
	out := func(format string, args ...any) { fmt.Fprintf(&svg, format+"\n", args...) }
	courses := rampCourses()
	height := (len(courses)+1)/2*row + 8
	out(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="14" role="img">`, pictureWidth, height)
	out(`  <rect width="%d" height="%d" fill="%s"/>`, pictureWidth, height, c.ground)
	for i, course := range courses {
		left, top := margin+i%2*(chartWidth+80), i/2*row+40
		x := func(hour int) float64 { return float64(left) + float64(hour*chartWidth)/(24*rampDays) }
		y := func(percentage float32) float64 { return float64(top+chartHeight) - float64(percentage) }
		out(`  <text x="%d" y="%d" font-weight="600" fill="%s">%s</text>`, left, top-16, c.text, course.title)
		for _, percentage := range []float32{0, 50, 100} {
			out(`  <path d="M%d %.1f h%d" stroke="%s"/>`, left, y(percentage), chartWidth, c.tones[1])
			out(`  <text x="%d" y="%.1f" font-size="12" fill="%s">%.0f %%</text>`, left+chartWidth+4, y(percentage)+4, c.faint, percentage)
		}
		for day := range rampDays + 1 {
			out(`  <text x="%.1f" y="%d" font-size="12" text-anchor="middle" fill="%s">day %d</text>`, x(24*day), top+chartHeight+17, c.faint, day)
		}
		path := fmt.Sprintf("M%.1f %.1f", x(0), y(0))
		for hour, percentage := range course.percentages(t) {
			path += fmt.Sprintf(" V%.1f H%.1f", y(percentage), x(hour+1))
		}
		out(`  <path d="%s" fill="none" stroke="%s" stroke-width="2.5"/>`, path, c.tones[0])
	}
	out(`</svg>`)
	return svg.String()
}
