package flag

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// ramp is how the share of a rule comes to its percentage over time, as it was typed.
type ramp struct {
	Start  string     // as in period
	From   string     `json:",omitempty"`
	Over   length     `json:",omitzero"` // unless there are steps
	Steps  []rampStep `json:",omitempty"`
	Every  length     `json:",omitzero"`  // between confirmations; without a number none are needed
	Back   bool       `json:",omitempty"` // without a confirmation it goes back
	Stored string     `json:",omitempty"` // as JSON; it also says what was done with the ramp
}

// rampStep is a percentage that holds for some time.
type rampStep struct {
	Share string
	For   length
}

// length is how long something takes.
type length struct{ Number, Unit string }

type lengthUnit struct {
	name string
	of   time.Duration
}

// lengthUnits are the units of lengths, the longest first.
var lengthUnits = []lengthUnit{{"days", 24 * time.Hour}, {"hours", time.Hour}, {"minutes", time.Minute}}

func lengthOf(d time.Duration) length {
	for _, u := range lengthUnits {
		if d > 0 && d%u.of == 0 {
			return length{strconv.FormatInt(int64(d/u.of), 10), u.name}
		}
	}
	return length{Unit: lengthUnits[0].name}
}

// duration returns the length, or 0 if it is not a number of units or too long for a ramp.
func (l length) duration() time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(l.Number), 10, 32)
	for _, u := range lengthUnits {
		if err == nil && u.name == l.Unit && n <= int64(service.MaxRampLength/u.of) {
			return time.Duration(n) * u.of
		}
	}
	return 0
}

func rampOf(m *flipt.Ramp) *ramp {
	r := convert.RampOf(m)
	if r == nil {
		return nil
	}
	stored, err := json.Marshal(r)
	if err != nil {
		panic(err) // instants, numbers and names can always be encoded
	}
	typed := &ramp{Start: timeText(m.GetStart()), Over: lengthOf(r.Over), Every: lengthOf(0), Stored: string(stored)}
	if r.Initial != 0 {
		typed.From = shareText(r.Initial)
	}
	for _, s := range r.Steps {
		typed.Steps = append(typed.Steps, rampStep{shareText(s.Percentage), lengthOf(s.For)})
	}
	if r.Confirm != nil {
		typed.Every, typed.Back = lengthOf(r.Confirm.Every), r.Confirm.Lapse == guidon.BackRamp
	}
	return typed
}

// ramp returns the ramp as it is stored. With another start it begins anew.
func (r *ramp) ramp() *guidon.Ramp {
	if r == nil {
		return nil
	}
	var was guidon.Ramp
	_ = json.Unmarshal([]byte(r.Stored), &was) // a form of ours has no other text
	start, _ := page.ParseTime(r.Start, time.UTC)
	if !start.Equal(was.Start) {
		was = guidon.Ramp{}
	}
	g := &guidon.Ramp{Start: start, Initial: shareNumber(r.From), Paused: was.Paused, Reversed: was.Reversed, Delay: was.Delay}
	if len(r.Steps) == 0 {
		g.Over = r.Over.duration()
	}
	for _, s := range r.Steps {
		g.Steps = append(g.Steps, guidon.RampStep{Percentage: shareNumber(s.Share), For: s.For.duration()})
	}
	if r.Every.Number != "" {
		g.Confirm = &guidon.RampConfirm{Every: r.Every.duration()}
		if was.Confirm != nil {
			g.Confirm.Last = was.Confirm.Last
		}
		if r.Back {
			g.Confirm.Lapse = guidon.BackRamp
		}
	}
	return g
}

// stepPrefix returns the beginning of the names of the fields of a step.
func stepPrefix(j int) string { return "step." + strconv.Itoa(j) + "." }

// readRamp returns the ramp in the fields of an open rule, or nil. Their names begin with at.
func readRamp(at string, form url.Values) *ramp {
	if !form.Has(at + "stored") {
		return nil
	}
	r := &ramp{
		Start: readTime(form.Get(at + "start")), From: form.Get(at + "from"), Over: readLength(at+"over", form),
		Every: readLength(at+"every", form), Back: form.Get(at+"lapse") == "back", Stored: form.Get(at + "stored"),
	}
	for j := 0; form.Has(at + stepPrefix(j) + "share"); j++ {
		r.Steps = append(r.Steps, rampStep{form.Get(at + stepPrefix(j) + "share"), readLength(at+stepPrefix(j)+"for", form)})
	}
	return r
}

func readLength(at string, form url.Values) length {
	return length{form.Get(at), form.Get(at + ".unit")}
}

// newRamp returns a ramp that begins with the next minute.
func newRamp(now time.Time) *ramp {
	start := now.UTC().Truncate(time.Minute).Add(time.Minute)
	return &ramp{Start: start.Format(part.MomentForm), Over: length{"3", "days"}, Every: lengthOf(0)}
}

// addStep adds a step as long as the last one, or as a day.
func (r *ramp) addStep() {
	step := rampStep{For: length{"1", "days"}}
	if n := len(r.Steps); n > 0 {
		step.For = r.Steps[n-1].For
	}
	if len(r.Steps) < service.MaxRampSteps {
		r.Steps = append(r.Steps, step)
	}
}

// check passes the problems of the fields to add. start is where the share begins.
func (r *ramp) check(start string, add func(id, message string)) {
	share := func(id, text string) {
		if n, problem := parseShare(text); problem != "" {
			add(id, problem)
		} else if shareNumber(start)+n > 100 {
			add(id, "Start and share are more than 100% together.")
		}
	}
	during := func(id string, l length) {
		if l.duration() < time.Minute {
			add(id, "A whole number, for 1 minute to 366 days.")
		}
	}
	if r.From != "" {
		share("ramp-from", r.From)
	}
	if len(r.Steps) == 0 {
		during("ramp-over", r.Over)
	}
	checkTime("ramp-start", r.Start, add)
	switch at := r.ramp().Start; {
	case r.Start == "":
		add("ramp-start", "A start is needed.")
	case at != at.Truncate(time.Minute):
		add("ramp-start", "A whole minute, such as "+at.Format("15:04")+".")
	}
	for j, s := range r.Steps {
		id := "ramp-step-" + strconv.Itoa(j)
		share(id+"-share", s.Share)
		during(id+"-for", s.For)
	}
	if len(r.Steps) > 0 && r.ramp().Length() > service.MaxRampLength {
		add("ramp-step-0-for", "The steps take 366 days at most together.")
	}
	if r.Every.Number != "" {
		during("ramp-every", r.Every)
	}
}

// divided returns the share of a rule that may have a ramp.
func (s rule) divided() division {
	if s.Portion != nil {
		return *s.Portion
	}
	d := s.Divide
	d.Share = s.share
	return d
}

// target returns the percentage to which the ramp of the rule leads.
func (s rule) target() float32 { return shareNumber(s.divided().Share) }

// rampWords returns what the ramp of the rule does now, or "".
func (s rule) rampWords(now time.Time) string {
	return analysis.RampWords(s.Ramp.ramp(), s.target(), now)
}

// maxRampLines limits the instants of a ramp that the page shows.
const maxRampLines = 6

// schedule returns when the share of the rule gets which percentage, a line for each instant. It
// returns nil if what is typed is not complete.
func (s rule) schedule(now time.Time) (lines []string) {
	complete := true
	s.Ramp.check("", func(string, string) { complete = false })
	r := s.Ramp.ramp()
	switch phase := r.Phase(now); {
	case !complete:
		return nil
	case phase == guidon.RampPaused || phase == guidon.RampLapsed || phase == guidon.RampReversing:
		return []string{s.rampWords(now)}
	}
	confirmed := r.Clone()
	confirmed.Confirm = nil
	marks := rampMarks(r)
	for i, mark := range marks {
		at := r.Begin().Add(mark)
		switch last := len(marks) - 1; {
		case i < maxRampLines-2 || i == last || len(marks) <= maxRampLines:
			lines = append(lines, analysis.InstantWords(at)+": "+analysis.PercentWords(confirmed.PercentageAt(at.Unix(), s.target())))
		case i == maxRampLines-2:
			lines = append(lines, "and "+page.Count(last-i, "more step"))
		}
	}
	if deadline := r.Deadline(); !deadline.IsZero() {
		lapse := " stays at the percentage of that time."
		if s.Ramp.Back {
			lapse = " goes back to " + analysis.PercentWords(r.Initial) + "."
		}
		lines = append(lines, "Unless somebody confirms it by "+analysis.InstantWords(deadline)+", it"+lapse)
	}
	return lines
}

// rampMarks returns how long after its begin a ramp comes to its steps, or to each quarter, and to
// its end.
func rampMarks(r *guidon.Ramp) []time.Duration {
	marks := []time.Duration{0}
	for _, s := range r.Steps {
		marks = append(marks, marks[len(marks)-1]+s.For)
	}
	if r.Over > 0 {
		for quarter := range time.Duration(4) {
			marks = append(marks, (r.Over * (quarter + 1) / 4).Truncate(time.Minute))
		}
	}
	return slices.Compact(marks)
}

// rampName returns the name of the field of a ramp whose id ends with that.
func rampName(i int, id string) string { return prefix(i) + "ramp." + strings.ReplaceAll(id, "-", ".") }
