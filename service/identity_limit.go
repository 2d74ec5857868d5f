package service

import (
	"slices"
)

// MaxSubjects limits the subjects of an authentication, with the one that says who it is.
const MaxSubjects = 256

// maxGroups limits those that are groups of an OpenID provider.
const maxGroups = 200

// limitSubjects limits the subjects of the authentication. Of too many groups it keeps
// those that allow lists and bindings name; of too many subjects it keeps these and then
// the first of the others.
func (p *Policy) limitSubjects(a *Authentication, stored *Bindings) {
	named := func(subject string) bool { return p.names(a, subject, stored) }
	if countGroups(a.Subjects) > maxGroups {
		kept := 0
		a.Subjects = slices.DeleteFunc(slices.Clone(a.Subjects), func(subject string) bool {
			if !isGroup(subject) {
				return false
			}
			if kept == maxGroups || !named(subject) {
				return true
			}
			kept++
			return false
		})
	}
	if most := MaxSubjects - 1; len(a.Subjects) > most {
		var first, others []string
		for _, subject := range a.Subjects {
			if named(subject) {
				first = append(first, subject)
			} else {
				others = append(others, subject)
			}
		}
		a.Subjects = append(first, others...)[:most]
	}
}

// names reports whether the subject of the authentication can make a difference to its
// admission or its access.
func (p *Policy) names(a *Authentication, subject string, stored *Bindings) bool {
	admission := p.Admissions[vouchers(a.Subject)]
	return admission != nil && admission.Names(subject) || len(p.Bindings.of(subject)) > 0 || len(stored.of(subject)) > 0
}

func countGroups(subjects []string) int {
	count := 0
	for _, subject := range subjects {
		if isGroup(subject) {
			count++
		}
	}
	return count
}

// isGroup reports whether the subject is a group of an OpenID provider.
func isGroup(subject string) bool {
	method, _, kind, _ := splitSubject(subject)
	return method == subjectOIDC && kind == "group"
}
