package service

import (
	"regexp"
	"slices"
	"strings"
)

// AllowList admits people who have one of its subjects. It implements [Admission].
type AllowList struct {
	Everyone bool
	Subjects []string // any of them admits, such as "oidc:google:domain:example.com"
	// EmailMatches, if there are any, must match an e-mail address of everyone who is
	// admitted. Without Everyone and Subjects, that alone admits.
	EmailMatches []*regexp.Regexp
}

// Admits implements [Admission].
func (l *AllowList) Admits(a *Authentication) bool {
	listed := l.Everyone || len(l.Subjects) == 0 && len(l.EmailMatches) > 0 ||
		slices.ContainsFunc(l.Subjects, func(subject string) bool {
			return subject == a.Subject || slices.Contains(a.Subjects, subject)
		})
	return listed && (len(l.EmailMatches) == 0 || slices.ContainsFunc(a.Subjects, l.matchesEmail))
}

// Names implements [Admission].
func (l *AllowList) Names(subject string) bool {
	return slices.Contains(l.Subjects, subject) || l.matchesEmail(subject)
}

// matchesEmail reports whether the subject is that of an e-mail address which one of the
// expressions matches.
func (l *AllowList) matchesEmail(subject string) bool {
	_, _, kind, address := splitSubject(subject)
	return kind == "email" && slices.ContainsFunc(l.EmailMatches, func(r *regexp.Regexp) bool { return r.MatchString(address) })
}

// ServiceAccounts admits service accounts of Kubernetes by patterns: "namespace/name", with
// "*" for any namespace or any name. None admits all. It is an [Admission].
type ServiceAccounts []string

// Admits implements [Admission].
func (s ServiceAccounts) Admits(a *Authentication) bool {
	_, _, _, account := splitSubject(a.Subject)
	return s.Match(account)
}

// Match reports whether one of the patterns matches the account: "namespace/name".
func (s ServiceAccounts) Match(account string) bool {
	namespace, name, _ := strings.Cut(account, "/")
	return len(s) == 0 || slices.ContainsFunc(s, func(pattern string) bool {
		wantNamespace, wantName, _ := strings.Cut(pattern, "/")
		return (wantNamespace == "*" || wantNamespace == namespace) && (wantName == "*" || wantName == name)
	})
}

// Names implements [Admission]. Only who it is decides, and not its further subjects.
func (s ServiceAccounts) Names(string) bool { return false }

// IsServiceAccountPattern reports whether the text can be one of [ServiceAccounts].
func IsServiceAccountPattern(text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	for _, part := range []*string{&namespace, &name} {
		if *part == "*" {
			*part = "any"
		}
	}
	return IsServiceAccount(namespace + "/" + name)
}
