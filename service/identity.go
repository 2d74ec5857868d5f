package service

import (
	"slices"
	"time"
)

// Identity is the identity of a person or a workload according to the provider that vouches
// for it. Its access is decided by bindings, not by the provider.
type Identity struct {
	Method   Method
	Provider string // the name of the OpenID provider, otherwise ""

	// Subject identifies the person or workload, and is the actor of change records. It never
	// depends on values that people can change or that may be given to someone else, such as
	// an e-mail address:
	//
	//	oidc:<provider>:sub:<sub>
	//	codehost:id:<number>
	//	kubernetes:serviceaccount:<namespace>/<name>
	//	jwt:sub:<sub>
	Subject string
	// Subjects are the others that bindings and allow lists may name, of which a record has
	// at most 255. Those of e-mail addresses are in lower case, and only there if the address
	// is verified:
	//
	//	oidc:<provider>:{email|domain|group}:<value>
	//	codehost:{email|domain|org|team}:<value>
	//	kubernetes:namespace:<namespace>
	//	jwt:group:<value>, jwt:claim:<name>=<value>
	Subjects []string
	Roles    []string // values of the claim for roles, such as "editor@checkout"

	// Missing says which claims that decide something the provider did not send, or why they
	// could not be had; nil if there are none. It is for logs.
	Missing error

	SID      string            // the session at the provider (the claim sid), or ""
	Metadata map[string]string // for clients; its keys begin with "io.service.auth."
	Expires  time.Time         // when the proof of the identity expires; zero for people
}

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
