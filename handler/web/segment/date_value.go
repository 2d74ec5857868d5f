package segment

import (
	"strings"
	"time"
)

// The forms of dates in fields.
const (
	clockForm      = "15:04:05"
	shortClockForm = "15:04"
	shownForm      = "2 Jan 2006, 15:04:05 MST"
	shownDateForm  = "2 Jan 2006"
)

// utc is the name of the zone in fields.
const utc = "UTC"

// dateEntry is a date as it is entered: without a time it is a whole day in UTC.
type dateEntry struct{ Date, Clock, Zone string }

// dateEntryOf returns the fields of a stored date, in the time zone.
func dateEntryOf(value string, at *time.Location) dateEntry {
	e := dateEntry{Zone: at.String()}
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		t = t.In(at)
		e.Date, e.Clock = t.Format(time.DateOnly), t.Format(clockForm)
		return e
	}
	e.Date = value // a date, or the text that is not one
	return e
}

// value returns the date as it is stored. zone is that of the visitor.
func (e dateEntry) value(zone *time.Location) (string, bool) {
	date, clock := strings.TrimSpace(e.Date), strings.TrimSpace(e.Clock)
	if clock == "" {
		if _, err := time.Parse(time.DateOnly, date); err == nil {
			return date, true
		}
		t, err := time.Parse(time.RFC3339, date)
		return t.UTC().Format(time.RFC3339), err == nil && storable(t)
	}
	if e.Zone == utc {
		zone = time.UTC
	}
	for _, form := range []string{clockForm, shortClockForm} {
		if t, err := time.ParseInLocation(time.DateOnly+" "+form, date+" "+clock, zone); err == nil {
			return t.UTC().Format(time.RFC3339), storable(t)
		}
	}
	return "", false
}

// storable reports whether the year also has four digits in UTC.
func storable(t time.Time) bool { return t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 }

// shownDate returns a stored date in words, in the time zone, or "" if it cannot be read.
func shownDate(value string, at *time.Location) string {
	if t, err := time.Parse(time.DateOnly, value); err == nil {
		return t.Format(shownDateForm)
	}
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		return t.In(at).Format(shownForm)
	}
	return ""
}
