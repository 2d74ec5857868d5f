package fliptdb

import "fmt"

// damage is why an object cannot be imported as it is. The zero value is an object without
// damage.
type damage struct{ reasons []string }

func (d *damage) damaged() bool { return len(d.reasons) > 0 }

// because adds a reason.
func (d *damage) because(format string, args ...any) {
	d.reasons = append(d.reasons, fmt.Sprintf(format, args...))
}

// summary returns the first reason, and how many others there are.
func (d *damage) summary() string {
	if more := len(d.reasons) - 1; more > 0 {
		return fmt.Sprintf("%s, and %d more", d.reasons[0], more)
	}
	return d.reasons[0]
}

// check reports whether a row of the flag, or of its rule or rollout named in, can be used.
// If not, the flag is damaged. Rows of orphans, which have no flag, cannot.
func (f *flag) check(x row, in, problem string) bool {
	if f == nil {
		return false
	}
	if x.problem != "" {
		problem = x.problem
	}
	if problem == "" {
		return true
	}
	name := x.name
	if in != "" {
		name = in + ": " + name
	}
	f.because("%s: %s", name, problem)
	return false
}

// note adds a finding about something that is imported.
func (a *assembly) note(subject, format string, args ...any) {
	a.content.Findings = append(a.content.Findings, Finding{Subject: subject, Reason: fmt.Sprintf(format, args...)})
}

// lose adds a finding about something that is not imported, and counts it.
func (a *assembly) lose(subject, reason string, count *int) {
	a.content.Findings = append(a.content.Findings, Finding{Subject: subject, Outcome: notImported, Reason: reason})
	*count++
}
