package codehost

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// The beginnings of subjects.
const (
	subjectID           = "codehost:id:"
	subjectEmail        = "codehost:email:"
	subjectDomain       = "codehost:domain:"
	subjectOrganization = "codehost:org:"
	subjectTeam         = "codehost:team:"
)

// maxName is the maximum length of the name of an organization or team, in bytes.
const maxName = 1 << 10

// person has the facts that a host states about the person who signs in.
type person struct {
	id            int64
	login, name   string
	picture       string
	email         string // primary, verified and normalized, or ""
	organizations []string
	teams         []team
	nested        bool // names of organizations may contain "/"
}

type team struct{ organization, name string }

// check returns an error if the response of the host cannot be used.
func (p *person) check() error {
	if p.id <= 0 {
		return errors.New("the account has no id; must be a positive integer")
	}
	for _, name := range p.organizations {
		if err := checkName(name, p.nested); err != nil {
			return fmt.Errorf("invalid name of an organization: %w", err)
		}
	}
	for _, t := range p.teams {
		if err := errors.Join(checkName(t.organization, false), checkName(t.name, false)); err != nil {
			return fmt.Errorf("invalid name of a team or its organization: %w", err)
		}
	}
	return nil
}

// checkName returns an error if the name cannot be a part of a subject. Two teams must
// not have the same subject because of a slash in a name.
func checkName(name string, nested bool) error {
	switch {
	case name == "" || len(name) > maxName:
		return fmt.Errorf("has %d bytes; must have 1 to %d", len(name), maxName)
	case !service.IsClean(name):
		return errors.New("must not contain control characters")
	case !nested && strings.Contains(name, "/"):
		return fmt.Errorf(`%q must not contain "/"`, provider.Printable(name))
	}
	return nil
}

func (p *person) identity(h *Host) *service.Identity {
	return &service.Identity{
		Method:   service.MethodCodehost,
		Subject:  subjectID + strconv.FormatInt(p.id, 10),
		Subjects: p.subjects(),
		Metadata: p.metadata(h),
	}
}

// subjects returns the further subjects, sorted.
func (p *person) subjects() []string {
	var all []string
	if p.email != "" {
		all = append(all, subjectEmail+p.email)
		if domain := issuer.EmailDomain(p.email); domain != "" {
			all = append(all, subjectDomain+domain)
		}
	}
	for _, name := range p.organizations {
		all = append(all, subjectOrganization+service.FoldCase(name))
	}
	for _, t := range p.teams {
		all = append(all, subjectTeam+service.FoldCase(t.organization+"/"+t.name))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// MissingOrganizations returns the allowed organizations that are not among the subjects
// of the identity, in the order given. It is for the log when a person is not admitted:
// GitHub leaves out organizations that have not approved the OAuth app, or whose single
// sign-on the person has not passed.
func MissingOrganizations(identity *service.Identity, allowed []string) []string {
	return slices.DeleteFunc(slices.Clone(allowed), func(name string) bool {
		return slices.Contains(identity.Subjects, subjectOrganization+service.FoldCase(name))
	})
}

// address is an e-mail address of a person, as GitHub and Gitea describe it.
type address struct {
	Email             string
	Primary, Verified bool
}

// primaryVerified returns the primary address if it is verified, or "".
func primaryVerified(addresses []address) string {
	for _, a := range addresses {
		if a.Primary && a.Verified {
			return normalizeEmail(a.Email)
		}
	}
	return ""
}

// normalizeEmail returns the address in lower case, or "" if it is not one.
func normalizeEmail(raw string) string {
	if !issuer.IsEmail(raw) {
		return ""
	}
	return service.FoldCase(raw)
}
