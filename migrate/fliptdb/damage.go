package fliptdb

import (
	"cmp"
	"fmt"
)

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

// stray is a row that belongs to a segment or flag that does not exist. The column for its
// namespace or that for its key may be wrong, so the segment or flag that lacks it may be
// any of the namespace, or one with that key.
type stray struct {
	in   ref
	text string
}

// orphan adds a finding about a row that belongs to nothing, and returns why an object that
// it may belong to is damaged. It returns "" if the operator chose to evaluate as Flipt
// does, without the row.
func (a *assembly) orphan(x row, why string) string {
	if x.problem != "" {
		why = x.problem + "; " + why
	}
	if a.options.IgnoreOrphans {
		a.note(x.name, "not imported, as Flipt does not use it either: %s", why)
		return ""
	}
	a.lose(x.name, why, &a.content.Loss.Orphans)
	return x.name + " may belong to it: " + why
}

// strayOfFlag adds a row that belongs to a flag that does not exist.
func (a *assembly) strayOfFlag(x row, in ref, why string) {
	if text := a.orphan(x, why); text != "" {
		a.flagStrays = append(a.flagStrays, stray{in, text})
	}
}

// suspect damages every owner that may lack one of the rows.
func suspect[T interface{ because(string, ...any) }](owners map[ref]T, strays []stray) {
	namespaces, keys := map[string]bool{}, map[string]bool{}
	for at := range owners {
		namespaces[at.namespace], keys[at.key] = true, true
	}
	var every string // every owner may lack it
	inNamespace, withKey := map[string]string{}, map[string]string{}
	for _, s := range strays {
		if !namespaces[s.in.namespace] && !keys[s.in.key] {
			every = cmp.Or(every, s.text)
		}
		inNamespace[s.in.namespace] = cmp.Or(inNamespace[s.in.namespace], s.text)
		withKey[s.in.key] = cmp.Or(withKey[s.in.key], s.text)
	}
	for at, owner := range owners {
		if text := cmp.Or(every, inNamespace[at.namespace], withKey[at.key]); text != "" {
			owner.because("%s", text)
		}
	}
}
