package service

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// Role is the role of an identity in a namespace. Each role includes the permissions of those
// before it.
type Role uint8

// The roles. The zero Role means that none was chosen.
const (
	RoleUnset     Role = iota
	RoleNone           // nothing; also a role of a later release
	RoleEvaluator      // evaluate flags
	RoleClient         // download snapshots for evaluation by the client
	RoleViewer         // read flags, segments, namespaces and changes
	RoleEditor         // change flags and segments
	RoleAdmin          // create, change and delete namespaces and, everywhere, tokens
)

var roleNames = []string{"", "none", "evaluator", "client", "viewer", "editor", "admin"}

// String returns the name of the role, which is "" for RoleUnset.
func (r Role) String() string {
	if int(r) < len(roleNames) {
		return roleNames[r]
	}
	return fmt.Sprintf("Role(%d)", uint8(r))
}

// MarshalText implements [encoding.TextMarshaler].
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. A name that this release does not
// know becomes RoleNone: it must not give any right.
func (r *Role) UnmarshalText(text []byte) error {
	if *r = RoleNone; len(text) == 0 {
		*r = RoleUnset
	} else if i := slices.Index(roleNames, string(text)); i > 0 {
		*r = Role(i) // #nosec G115 -- an index of roleNames
	}
	return nil
}

// ParseRole returns the role with the name, or InvalidArgument. The empty name is
// RoleUnset.
func ParseRole(name string) (Role, error) {
	i := slices.Index(roleNames, name)
	if i < 0 || Role(i) == RoleNone { // #nosec G115 -- an index of roleNames
		return RoleNone, errUnknownRole
	}
	return Role(i), nil // #nosec G115 -- an index of roleNames
}

// RoleNames returns the names of the roles that can be given, the least first.
func RoleNames() []string { return slices.Clone(roleNames[RoleEvaluator:]) }

// RoleWords are the names of the roles that can be given, for texts.
var RoleWords = lists.Join(RoleNames(), "or")

var errUnknownRole = invalidField("role", "must be "+RoleWords)

// Everywhere stands for all namespaces, also those to come, where a role is needed or
// given.
const Everywhere = "*"

// Grant is a role in some namespaces.
type Grant struct {
	Role       Role
	Namespaces []string // keys, beginnings such as "pay-*", or Everywhere
	Origin     Origin
	Subject    string // that the binding names, if one gives it
}

// Origin is where a grant comes from.
type Origin string

// Origins.
const (
	OriginDatabase      Origin = SourceDatabase      // a binding in the database
	OriginConfiguration Origin = SourceConfiguration // a binding of the configuration
	OriginClaim         Origin = "claim"             // the claim for roles of a provider
	OriginDefault       Origin = "default"           // the default role, which is configured
	OriginToken         Origin = "token"             // the static token itself
	OriginOpen          Origin = "open"              // roles are not enforced
)

// Unlimited reports whether the authentication gives every role everywhere. It may
// nevertheless be limited by its Scope.
func (a *Authentication) Unlimited() bool {
	return a.access == nil && a.Role == RoleUnset && len(a.Namespaces) == 0
}

// May reports whether the authentication gives the role, or a higher one, in the
// namespace, or Everywhere.
func (a *Authentication) May(need Role, namespace string) bool {
	switch {
	case a.access != nil:
		return a.access.gives(need, namespace)
	case a.Unlimited(): // nearly always
		return true
	case a.Role != RoleUnset && a.Role < need:
		return false
	case len(a.Namespaces) == 0:
		return true
	}
	return coversAny(a.Namespaces, namespace)
}

// MayAnywhere reports whether the authentication gives the role in any namespace.
func (a *Authentication) MayAnywhere(need Role) bool {
	if a.access != nil {
		return slices.ContainsFunc(a.access.grants, func(g Grant) bool { return g.Role >= need })
	}
	return a.Role == RoleUnset || a.Role >= need
}

// Grants returns the grants of the authentication.
func (a *Authentication) Grants() []Grant {
	if a.access != nil {
		return a.access.grants
	}
	g := Grant{Role: a.Role, Namespaces: a.Namespaces, Origin: OriginOpen}
	if a.Method == MethodToken {
		g.Origin = OriginToken
	}
	if g.Role == RoleUnset {
		g.Role = RoleAdmin
	}
	if len(g.Namespaces) == 0 {
		g.Namespaces = []string{Everywhere}
	}
	if namespace, limited := a.Scope(); limited {
		if !coversAny(g.Namespaces, namespace) {
			return nil
		}
		g.Namespaces = []string{namespace}
	}
	return []Grant{g}
}

// covers reports whether the pattern matches the namespace. Only Everywhere matches
// Everywhere.
func covers(pattern, namespace string) bool {
	start, open := strings.CutSuffix(pattern, "*")
	if !open {
		return pattern == namespace
	}
	return start == "" || namespace != Everywhere && strings.HasPrefix(namespace, start)
}

// coversAny reports whether one of the patterns matches the namespace.
func coversAny(patterns []string, namespace string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return covers(pattern, namespace) })
}

// Refusal returns the error for a caller that lacks the role in the namespace. It does not
// reveal whether the namespace exists.
func Refusal(need Role, namespace string) error {
	return guidon.Errorf(guidon.PermissionDenied, "permission denied: needs %s on namespace %q", need, namespace)
}

// maxGrantedNamespaces limits the namespaces of a token.
const maxGrantedNamespaces = 100

// checkGranted returns InvalidArgument unless the patterns are such as [Grant] has, and
// not too many.
func checkGranted(patterns []string) error {
	if len(patterns) > maxGrantedNamespaces {
		return invalidField("namespaceKeys", fmt.Sprintf("must not contain more than %d elements", maxGrantedNamespaces))
	}
	for i, pattern := range patterns {
		start, open := strings.CutSuffix(pattern, "*")
		if pattern == "" || start != "" && !keyPattern.MatchString(start) || start == "" && !open || checkLength("", pattern) != nil {
			return invalidField(fmt.Sprintf("namespaceKeys[%d]", i), `must be a namespace key, the beginning of one followed by "*", or "*"`)
		}
	}
	return nil
}
