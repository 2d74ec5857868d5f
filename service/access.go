package service

import (
	"regexp"
	"slices"
	"strings"
)

// access holds the grants of an authentication. It is immutable.
type access struct {
	grants []Grant
}

// gives reports whether a grant has the role, or a higher one, in the namespace.
func (x *access) gives(need Role, namespace string) bool {
	return slices.ContainsFunc(x.grants, func(g Grant) bool {
		return g.Role >= need && coversAny(g.Namespaces, namespace)
	})
}

// Admission decides whom of those for whom a provider vouches the service admits.
type Admission interface {
	// Admits reports whether the identity is admitted. It is asked again whenever stored
	// authentications are loaded, so it must depend on nothing but the configuration.
	Admits(a *Authentication) bool
	// Names reports whether having the subject can make a difference to Admits.
	Names(subject string) bool
}

// Policy decides which identities are admitted, and what they may do. It is immutable, and
// safe for concurrent use. The zero Policy admits all identities and enforces nothing but
// the roles and namespaces of static tokens.
type Policy struct {
	// Enforced is whether roles limit people and workloads. Otherwise each may do
	// everything.
	Enforced bool
	// Defaults are the roles, everywhere, of those whom neither a binding nor a claim for
	// roles names, by method. RoleNone gives nothing. That of MethodToken is for tokens
	// without a role; RoleUnset means RoleAdmin.
	Defaults DefaultRoles
	// Bindings are those of the configuration.
	Bindings *Bindings
	// Admissions are those of the providers, by the start of their subjects:
	// "oidc:<provider>", "codehost", "kubernetes", "jwt". A provider that has none admits no
	// identities, because it is not configured.
	Admissions map[string]Admission
}

// DefaultRoles are roles by [Method].
type DefaultRoles [MethodCloud + 1]Role

// vouchers returns the start of the subject that names who vouches for it.
func vouchers(subject string) string {
	if provider, ok := SubjectProvider(subject); ok {
		return subjectOIDC + ":" + provider
	}
	return SubjectMethod(subject)
}

// admits reports whether the identity of the authentication is admitted.
func (p *Policy) admits(a *Authentication) bool {
	if a.Subject == "" {
		return true
	}
	admission := p.Admissions[vouchers(a.Subject)]
	return admission != nil && admission.Admits(a)
}

// concerns reports whether the access of the authentication depends on the policy.
func (p *Policy) concerns(a *Authentication) bool {
	if a.Method != MethodToken {
		return true
	}
	return a.Parent != "" || a.Role == RoleUnset && p.defaultOf(MethodToken) != RoleAdmin
}

func (p *Policy) defaultOf(m Method) Role {
	role := p.Defaults[m.known()]
	if m == MethodToken && (role == RoleUnset || !p.Enforced) {
		return RoleAdmin
	}
	return role
}

// accessOf returns the access of the authentication of a person or a workload: the grants
// of the bindings of its subjects and of its claim for roles, or else the default. It
// returns nil if the authentication may do everything.
func (p *Policy) accessOf(a *Authentication, stored *Bindings) *access {
	if !p.Enforced {
		return nil
	}
	var grants []Grant
	add := func(subject string) {
		grants = append(append(grants, p.Bindings.of(subject)...), stored.of(subject)...)
	}
	if a.Subject != "" {
		add(a.Subject)
		add(vouchers(a.Subject) + ":" + AnySubject)
	}
	for _, subject := range a.Subjects {
		add(subject)
	}
	for _, text := range a.Roles {
		if g, err := ParseGrant(text); err == nil {
			g.Origin = OriginClaim
			grants = append(grants, g)
		}
	}
	if len(grants) == 0 {
		if role := p.defaultOf(a.Method); role >= RoleEvaluator {
			grants = []Grant{{Role: role, Namespaces: []string{Everywhere}, Origin: OriginDefault}}
		}
	}
	return &access{grants: withoutCovered(grants)}
}

// withoutCovered returns the grants, the highest role first, without those that another
// one includes.
func withoutCovered(grants []Grant) []Grant {
	slices.SortStableFunc(grants, func(x, y Grant) int { return int(y.Role) - int(x.Role) })
	var kept []Grant
	for _, g := range grants {
		higher := &access{grants: kept}
		var left []string
		for _, pattern := range g.Namespaces {
			if !higher.includes(g.Role, pattern) && !slices.Contains(left, pattern) {
				left = append(left, pattern)
			}
		}
		if len(left) > 0 {
			g.Namespaces = left
			kept = append(kept, g)
		}
	}
	return kept
}

// includes reports whether a grant has the role wherever the pattern matches.
func (x *access) includes(role Role, pattern string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	if !open || start == "" {
		return x.gives(role, pattern)
	}
	return slices.ContainsFunc(x.grants, func(g Grant) bool {
		return g.Role >= role && slices.ContainsFunc(g.Namespaces, func(other string) bool {
			begin, open := strings.CutSuffix(other, "*")
			return open && strings.HasPrefix(start, begin)
		})
	})
}

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
