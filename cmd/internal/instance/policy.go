package instance

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
	"github.com/guidonhq/guidon/store"
)

// NewService returns the service on the store, with the configured policy.
func NewService(c *config.Config, store service.Store, counter *count.Counter) (*service.Service, error) {
	p, err := policy(c)
	if err != nil {
		return nil, err
	}
	return service.NewService(store, time.Now).WithPolicy(p).Counting(counter), nil
}

// NewCounter returns the counter of evaluations, or nil if they are not counted.
func NewCounter(c config.Analytics, db *store.DB) *count.Counter {
	if !c.Enabled {
		return nil
	}
	return count.NewCounter(db, count.Keep{Minutes: c.KeepMinutes, Hours: c.KeepHours, Days: c.KeepDays}, time.Now)
}

// policy returns the configured policy: admissions, bindings and default roles.
func policy(c *config.Config) (*service.Policy, error) {
	bindings, err := service.ConfiguredBindings(c.Authorization.Bindings)
	if err != nil {
		return nil, err
	}
	p := &service.Policy{Enforced: c.RolesEnforced(), Bindings: bindings, Admissions: map[string]service.Admission{}}
	for _, method := range service.Methods() {
		p.Defaults[method] = c.Authorization.DefaultRoles.Role(method)
	}
	methods := c.Authentication.Methods
	if methods.OIDC.Enabled {
		matches, err := compile(methods.OIDC.EmailMatches)
		if err != nil {
			return nil, err
		}
		for name, provider := range methods.OIDC.Providers {
			p.Admissions["oidc:"+name] = openIDAdmission(name, provider, matches)
		}
	}
	if methods.Codehost.Enabled {
		p.Admissions["codehost"] = codehostAdmission(methods.Codehost)
	}
	if methods.Kubernetes.Enabled {
		p.Admissions["kubernetes"] = service.ServiceAccounts(methods.Kubernetes.AllowedServiceAccounts)
	}
	if methods.JWT.Enabled { // what a token must claim is checked with its signature
		p.Admissions["jwt"] = &service.AllowList{Everyone: true}
	}
	return p, nil
}

func compile(patterns []string) ([]*regexp.Regexp, error) {
	var all []*regexp.Regexp
	for _, pattern := range patterns {
		r, err := regexp.Compile(pattern)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

func openIDAdmission(name string, p *config.Provider, matches []*regexp.Regexp) *service.AllowList {
	prefix := "oidc:" + name + ":"
	return &service.AllowList{
		Everyone: p.AllowEveryone, EmailMatches: matches,
		Subjects: slices.Concat(
			subjects(prefix+"email:", p.AllowedEmails), subjects(prefix+"domain:", p.AllowedDomains),
			lists.Map(p.AllowedGroups, func(group string) string { return prefix + "group:" + group }), // their case matters
		),
	}
}

// codehostAdmission returns whom the code host admits. An organization with allowed teams
// admits only those teams.
func codehostAdmission(c config.Codehost) *service.AllowList {
	limited := map[string]bool{}
	for _, team := range c.AllowedTeams {
		organization, _, _ := strings.Cut(service.FoldCase(team), "/")
		limited[organization] = true
	}
	open := slices.DeleteFunc(slices.Clone(c.AllowedOrganizations), func(name string) bool { return limited[service.FoldCase(name)] })
	return &service.AllowList{
		Everyone: c.AllowEveryone,
		Subjects: slices.Concat(
			subjects("codehost:org:", open), subjects("codehost:team:", c.AllowedTeams),
			subjects("codehost:email:", c.AllowedEmails), subjects("codehost:domain:", c.AllowedDomains),
		),
	}
}

// subjects returns the subjects of values whose case does not matter.
func subjects(prefix string, values []string) []string {
	return lists.Map(values, func(value string) string { return prefix + service.FoldCase(value) })
}
