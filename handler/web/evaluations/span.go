package evaluations

import "time"

// fieldRange is the field of the address with the name of a span.
const fieldRange = "range"

// span is how far back a chart reaches, and in which steps.
type span struct {
	name, text string // in the address, and in words
	bars       int
	unit       string // of a bar, to begin a column with
	stepName   string // as the API has it
	step       time.Duration
	steps      int                     // of a bar
	tick       func(at time.Time) bool // the bar that begins then has its time below it
	tickForm   string                  // of times below bars
	rowForm    string                  // of times in the table
}

const day = 24 * time.Hour

// spans are the spans to choose from. Days begin in UTC, as they are counted.
var spans = []span{
	{"1h", "1 hour", 60, "Minute", "minute", time.Minute, 1, func(at time.Time) bool { return at.Minute()%10 == 0 }, "15:04", "15:04"},
	{"24h", "24 hours", 24, "Hour", "hour", time.Hour, 1, func(at time.Time) bool { return at.Hour()%3 == 0 }, "15:04", "15:04"},
	{"7d", "7 days", 7 * 24, "Hour", "hour", time.Hour, 1, func(at time.Time) bool { return at.Hour() == 0 }, "2 Jan", "2 Jan, 15:04"},
	{"60d", "60 days", 60, "Day (UTC)", "day", day, 1, func(at time.Time) bool { return at.Weekday() == time.Monday }, "2 Jan", "2 Jan"},
	{"2y", "2 years", 104, "Week (UTC)", "day", day, 7, beginsQuarter, "Jan 2006", "2 Jan 2006"},
}

// beginsQuarter reports whether the week that begins at a time is the first one that begins in its quarter.
func beginsQuarter(at time.Time) bool { return at.Day() <= 7 && at.Month()%3 == 1 }

// spanOf returns the span with the name, or that of a day.
func spanOf(name string) span {
	for _, s := range spans {
		if s.name == name {
			return s
		}
	}
	return spans[1]
}

// length returns the length of a bar.
func (s span) length() time.Duration { return time.Duration(s.steps) * s.step }

// start returns the start of the first bar, if the last one is that of now.
func (s span) start(now time.Time) time.Time {
	return now.UTC().Truncate(s.length()).Add(-time.Duration(s.bars-1) * s.length()) // weeks begin on Monday
}

// zone returns the time zone of the bars for a visitor.
func (s span) zone(visitor *time.Location) *time.Location {
	if s.step == day {
		return time.UTC
	}
	return visitor
}
