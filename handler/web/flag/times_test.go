package flag_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// timed is a flag whose rules begin and end.
const timed = `
version: guidon/1
flags:
  - key: season
    name: Season
    type: BOOLEAN_FLAG_TYPE
    rollouts:
      - threshold: {percentage: 10, value: true}
        until: 2026-11-01T00:00:00Z
      - segment: {value: true}
        everyone: true
        from: 2026-12-01T09:00:00Z
        until: 2026-12-24T00:00:00Z
      - threshold: {percentage: 50, value: true}
        from: 2026-12-01T09:00:00Z
      - threshold: {percentage: 25, value: true}
`

// TestComingUp: the page says which rules do not hold now, and when rules begin and end.
func TestComingUp(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	s := webtest.New(t, webtest.Options{Open: true, Now: func() time.Time { return now }})
	var later strings.Builder
	for i := range 6 {
		later.WriteString("      - {threshold: {percentage: 1, value: true}, until: 2027-01-0" + string(rune('1'+i)) + "T00:00:00Z}\n")
	}
	putFlag(t, s, timed+later.String())
	s.Get(flags+"season").Check(200).Contains(
		"10% of everyone who gets here until 1 November 2026 00:00 UTC", "Ended: no longer in force.",
		"Everyone from 1 December 2026 09:00 UTC until 24 December 2026 00:00 UTC On", "Not yet in force.", "Outside of the segments on 25%",
		"Coming up 1 December 2026 09:00 UTC Rule 2 begins: everyone: on Rule 3 begins: 50%: on 24 December 2026 00:00 UTC Rule 2 ends: everyone: on 1 January 2027",
		"3 January 2027 00:00 UTC Rule 7 ends: 1%: on and 3 more").Lacks("4 January 2027 00:00 UTC Rule")

	now = now.AddDate(0, 0, 4)
	s.Get(flags+"season").Check(200).Contains("Coming up 24 December 2026 00:00 UTC Rule 2 ends", "Outside of the segments on 100%").Lacks("Not yet")
	now = now.AddDate(10, 0, 0)
	s.Get(flags + "season").Check(200).Contains("24 December 2026 00:00 UTC On Edit Move up Move down Duplicate Remove Ended: no longer in force.").Lacks("Coming up")
}

// TestLaterEffect: the review of a draft says what changes by itself.
func TestLaterEffect(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, press(t, s, s.Get(flags+"dark-mode"), "add:everyone").Check(200), "with:2:times").Check(200)
	press(t, s, r, "review", "rule.2.times.from", "2099-12-01T09:00").Check(200).Contains("What people get From 1 December 2099 09:00 UTC: Everyone gets On.")
}
