package bearer

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/claimset"
	"github.com/guidonhq/guidon/service"
)

// Anonymous is the subject of a token without sub. It does not have the form of a subject
// that bindings can name.
const Anonymous = "jwt:anonymous"

// Limits of an identity.
const (
	maxSubjects = 256 // with the one that says who it is
	maxRoles    = 256
	maxValue    = 255     // characters of a value in a subject, and of the name of a claim
	maxMetadata = 8 << 10 // bytes of all names and values
)

// identity returns the identity with the claims of an accepted token.
func (v *Verifier) identity(c claimset.Set, sub string, expires time.Time) *service.Identity {
	subject := Anonymous
	if sub != "" {
		subject = "jwt:sub:" + sub
	}
	roles := c.Texts(v.roles)
	return &service.Identity{
		Method:   service.MethodJWT,
		Subject:  subject,
		Subjects: subjects(c, c.Texts(v.groups)),
		Roles:    roles[:min(len(roles), maxRoles)],
		Metadata: metadata(c),
		Expires:  expires,
	}
}

// subjects returns those of the groups, and then those of all claims that are strings, by
// name. It leaves out values that are too long or have control characters, claims whose
// name has a "=", which would be ambiguous, and all beyond the limit.
func subjects(c claimset.Set, groups []string) []string {
	var all []string
	add := func(prefix, value string) {
		if claimset.Plain(value, maxValue) && len(all) < maxSubjects-1 {
			all = append(all, prefix+value)
		}
	}
	for _, group := range groups {
		add("jwt:group:", group)
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if value, err := c.String(name); err == nil && claimset.Plain(name, maxValue) && !strings.Contains(name, "=") {
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
func metadata(c claimset.Set) map[string]string {
	m, size := map[string]string{}, 0
	add := func(key, value string) {
		_, taken := m[key]
		if n := size + len(key) + len(value); !taken && n <= maxMetadata && claimset.Plain(key, maxMetadata) && claimset.Plain(value, maxMetadata) {
			m[key], size = value, n
		}
	}
	issuer, _ := c.String("iss")
	add("io.service.auth.jwt.issuer", issuer)
	user, _ := c.Object("user")
	for _, claim := range userClaims {
		if value, err := user.String(claim.name); err == nil && (claim.name != "image" || strings.HasPrefix(value, "https://")) {
			add(claim.key, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if strings.HasPrefix(name, metadataPrefix) {
			add(name, stringified(c, name))
		}
	}
	return m
}

// stringified returns the claim of that name: a string as it is, all else as JSON, and ""
// for null.
func stringified(c claimset.Set, name string) string {
	if value, err := c.String(name); err == nil {
		return value
	}
	var b bytes.Buffer
	if string(c[name]) == "null" || json.Compact(&b, c[name]) != nil {
		return ""
	}
	return b.String()
}
