package bearer

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

// Anonymous is the subject of a token without sub. It does not have the form of a subject
// that bindings can name.
const Anonymous = "jwt:anonymous"

// Limits of an identity.
const (
	maxRoles    = 256
	maxMetadata = 8 << 10 // bytes of all names and values
)

// identity returns the identity with the claims of an accepted token.
func (v *Verifier) identity(c issuer.Claims, sub string, expires time.Time) *service.Identity {
	subject := Anonymous
	if sub != "" {
		subject = "jwt:sub:" + sub
	}
	roles := issuer.ClaimTexts(c.Lookup(v.roles), service.IsClean)
	return &service.Identity{
		Method:   service.MethodJWT,
		Subject:  subject,
		Subjects: subjects(c, issuer.ClaimTexts(c.Lookup(v.groups), issuer.IsName)),
		Roles:    roles[:min(len(roles), maxRoles)],
		Metadata: metadata(c),
		Expires:  expires,
	}
}

// subjects returns those of the groups, and then those of all claims that are strings, by
// name. It leaves out values that are too long or have control characters, claims whose
// name has a "=", which would be ambiguous, and all beyond the limit.
func subjects(c issuer.Claims, groups []string) []string {
	var all []string
	add := func(prefix, value string) {
		if len(all) < service.MaxSubjects-1 {
			all = append(all, prefix+value)
		}
	}
	for _, group := range groups {
		add("jwt:group:", group)
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		value, _ := c[name].(string)
		if issuer.IsName(name) && issuer.IsName(value) && !strings.Contains(name, "=") {
			add("jwt:claim:"+name+"=", value)
		}
	}
	return all
}

// metadataPrefix is that of claims that become metadata under their own names.
const metadataPrefix = "io.service.auth."

// userClaims are the members of the claim user that become metadata.
var userClaims = []struct{ name, key string }{
	{"email", "io.service.auth.jwt.email"},
	{"sub", "io.service.auth.jwt.sub"},
	{"image", "io.service.auth.jwt.picture"},
	{"name", "io.service.auth.jwt.name"},
	{"role", "io.service.auth.jwt.role"},
}

// metadata returns the metadata for clients (operations 1.11): issuer, members of the
// claim user, and claims with the prefix of metadata, objects and lists as JSON. It leaves
// out values with control characters, pictures without https, and what exceeds the limit.
func metadata(c issuer.Claims) map[string]string {
	m, size := map[string]string{}, 0
	add := func(key, value string) {
		_, taken := m[key]
		if n := size + len(key) + len(value); !taken && value != "" && n <= maxMetadata && service.IsClean(key) && service.IsClean(value) {
			m[key], size = value, n
		}
	}
	issued, _ := c["iss"].(string)
	add("io.service.auth.jwt.issuer", issued)
	user, _ := c["user"].(issuer.Claims)
	for _, claim := range userClaims {
		if value, err := user.Text(claim.name); err == nil && (claim.name != "image" || strings.HasPrefix(value, "https://")) {
			add(claim.key, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if strings.HasPrefix(name, metadataPrefix) {
			add(name, issuer.ClaimText(c[name]))
		}
	}
	return m
}
