package bearer

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// accept returns the identity of a token with the claims, whose signature is valid. It returns an error if
// they are not issued by the given issuer, or break another rule.
func (v *Verifier) accept(c issuer.Claims, by string) (*service.Identity, error) {
	expires, err := expiry(c, v.config.Now())
	if err != nil {
		return nil, err
	}
	if err := checkIssuer(c, by); err != nil {
		return nil, err
	}
	if err := v.checkAudience(c); err != nil {
		return nil, err
	}
	subject, err := v.subject(c)
	if err != nil {
		return nil, err
	}
	return v.identity(c, subject, expires), nil
}

// expiry returns when the token expires, to the second, and an error if it is not valid
// now.
func expiry(c issuer.Claims, now time.Time) (time.Time, error) {
	if err := c.CheckTimes(now); err != nil {
		return time.Time{}, err
	}
	for _, from := range []struct {
		name     string
		lifetime time.Duration
	}{{"exp", 0}, {"iat", defaultLifetime}, {"nbf", defaultLifetime}} {
		at, err := c.Time(from.name)
		if err != nil {
			return time.Time{}, err
		}
		if !c.Has(from.name) {
			continue
		}
		expires := at.Truncate(time.Second).Add(from.lifetime)
		if !now.Before(expires.Add(service.ClockSkew)) {
			return time.Time{}, fmt.Errorf("token expired at %s", expires.Format(time.RFC3339))
		}
		return expires, nil
	}
	return time.Time{}, errors.New("token has none of exp, nbf and iat")
}

// checkIssuer returns an error if iss is not the required one. If want is empty, it may be
// anything.
func checkIssuer(c issuer.Claims, want string) error {
	got, err := c.Text("iss")
	if err != nil {
		return err
	}
	if want != "" && got != want {
		return fmt.Errorf("iss of the token is %q, want %q", provider.Printable(got), provider.Printable(want))
	}
	return nil
}

// checkAudience returns an error if aud is malformed or has none of the required audiences.
func (v *Verifier) checkAudience(c issuer.Claims) error {
	if v.config.AnyAudience && !c.Has("aud") {
		return nil
	}
	got, err := c.Audience()
	if err != nil {
		return err
	}
	wanted := func(audience string) bool { return slices.Contains(v.config.Audiences, audience) }
	if !v.config.AnyAudience && !slices.ContainsFunc(got, wanted) {
		return fmt.Errorf("aud of the token is %q; must contain one of %q", provider.Printable(strings.Join(got, " ")), v.config.Audiences)
	}
	return nil
}

// subject returns sub, or "" for a token without it, unless the configuration requires it.
func (v *Verifier) subject(c issuer.Claims) (string, error) {
	sub, err := c.Text("sub")
	switch {
	case err != nil:
		return "", err
	case c.Has("sub") && !issuer.IsName(sub):
		return "", fmt.Errorf("sub of the token must have 1 to %d characters, without control characters", issuer.MaxClaim)
	case v.config.Subject != "" && sub != v.config.Subject:
		return "", fmt.Errorf("sub of the token is %q, want %q", provider.Printable(sub), v.config.Subject)
	}
	return sub, nil
}

// Anonymous is the subject of a token without sub. It does not have the form of a subject
// that bindings can name.
const Anonymous = "jwt:anonymous"

// maxMetadata limits all names and values of the metadata, in bytes. Only the size of the token limits
// what bindings may name and the roles: one that is left out would change what the caller may do, even to
// more, because a binding can give less than the default role.
const maxMetadata = 8 << 10

// identity returns the identity with the claims of an accepted token.
func (v *Verifier) identity(c issuer.Claims, sub string, expires time.Time) *service.Identity {
	subject := Anonymous
	if sub != "" {
		subject = "jwt:sub:" + sub
	}
	return &service.Identity{
		Method:   service.MethodJWT,
		Subject:  subject,
		Subjects: subjects(c, issuer.ClaimTexts(c.Lookup(v.groups), issuer.IsName)),
		Roles:    issuer.ClaimTexts(c.Lookup(v.roles), service.IsClean),
		Metadata: metadata(c),
		Expires:  expires,
	}
}

// subjects returns those of the groups, and then those of all claims that are strings, by
// name. It leaves out values that are too long or have control characters, and claims whose
// name has a "=", which would be ambiguous.
func subjects(c issuer.Claims, groups []string) []string {
	var all []string
	for _, group := range groups {
		all = append(all, "jwt:group:"+group)
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		value, _ := c[name].(string)
		if issuer.IsName(name) && issuer.IsName(value) && !strings.Contains(name, "=") {
			all = append(all, "jwt:claim:"+name+"="+value)
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
	user, _ := c["user"].(map[string]any)
	for _, claim := range userClaims {
		if value, err := issuer.Claims(user).Text(claim.name); err == nil && (claim.name != "image" || strings.HasPrefix(value, "https://")) {
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
