package configuration

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler/login/provider"
)

const (
	methodsKey   = "authentication.methods."
	oidcKey      = methodsKey + "oidc."
	providersKey = oidcKey + "providers."
	githubKey    = methodsKey + "github."
	codehostKey  = methodsKey + "codehost."
)

// addSignIn adds the settings that Guidon requires for signing in. They are chosen so that it
// admits the same people and tokens as before, but gives them no more than a role.
func (t *translation) addSignIn() {
	providers := t.providers()
	for _, name := range providers {
		if len(texts(t.value(oidcKey+"email_matches"))) == 0 {
			t.added(providersKey+name+".allow_everyone", "true", "as in Flipt, everyone with an account at this provider may sign in; better name them in allowed_emails, allowed_domains or allowed_groups")
		}
	}
	if t.has(githubKey) && !t.restricted {
		t.added(codehostKey+"allow_everyone", "true",
			"as in Flipt, everyone with an account there may sign in; better name them in allowed_organizations or allowed_teams")
	}
	if t.has(methodsKey+"jwt.") && len(texts(t.value(methodsKey+"jwt.validate_claims.audiences"))) == 0 {
		t.added(methodsKey+"jwt.validate_claims.any_audience", "true",
			"as in Flipt, tokens that were issued for other services are accepted; better name audiences")
	}
	if t.has(methodsKey + "kubernetes.") {
		t.added(methodsKey+"kubernetes.verify", "keys",
			"tokens are verified as in Flipt, but must be for guidon or the API server (audiences); review also refuses those of deleted pods")
	}
	t.addPublicURL(providers)
	if t.rolesEnforced() && !t.isTrue("authorization.required") {
		const roles = "without a binding, people who sign in are viewers, service accounts and JWTs may evaluate, and tokens are admins; in Flipt, everyone could do everything. See authorization.bindings and authorization.default_roles"
		t.Findings = append(t.Findings, "roles are enforced: "+roles)
		t.out.remark("authorization", "Roles are enforced: "+roles+".")
	}
}

// value returns the value of a setting, or nil.
func (t *translation) value(key string) *yaml.Node {
	if s := t.settings[key]; s != nil {
		return s.value
	}
	return nil
}

// has reports whether anything is set that begins with the prefix.
func (t *translation) has(prefix string) bool {
	for key, s := range t.settings {
		if strings.HasPrefix(key, prefix) && s.value != nil {
			return true
		}
	}
	return false
}

// providers returns the names of the OpenID providers.
func (t *translation) providers() []string {
	names := make(map[string]bool)
	for key, s := range t.settings {
		if rest, ok := strings.CutPrefix(key, providersKey); ok && s.known && s.value != nil {
			name, _, _ := strings.Cut(rest, ".")
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// addPublicURL adds the URL of this service, which Flipt has for each provider.
func (t *translation) addPublicURL(providers []string) {
	const insecure = "authentication.session.secure"
	keys := []string{githubKey + "redirect_address"}
	for _, name := range providers {
		keys = append(keys, providersKey+name+".redirect_address")
	}
	public := ""
	for _, key := range keys {
		address := strings.TrimRight(t.text(key), "/")
		public = cmp.Or(public, address)
		if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !provider.IsLocalHTTP(address) && t.value(insecure) == nil {
			t.added(insecure, "false", "people reach this service over plain HTTP, where others can read their sessions; better use https")
			t.settings[insecure] = &setting{key: insecure, value: scalar("false"), known: true}
		}
	}
	if public != "" {
		t.added("server.public_url", public, "the URL at which people reach this service, from redirect_address; it must stay the same when the clients are switched, or be changed at the providers, too")
	}
}

// rolesEnforced reports whether Guidon will enforce roles.
func (t *translation) rolesEnforced() bool {
	if !t.isTrue("authentication.required") {
		return false
	}
	for _, method := range []string{"oidc", "github", "kubernetes", "jwt"} {
		if t.isTrue(methodsKey + method + ".enabled") {
			return true
		}
	}
	return t.isTrue("authorization.required")
}

func (t *translation) excludeManagement(s *setting) bool {
	if !t.isTrue(s.key) || !t.rolesEnforced() {
		return false
	}
	t.find(s, "is left at false: while roles are enforced, nobody may change flags without one")
	return true
}

// emailMatches ends each expression in $. In Flipt, it matches anywhere in an address.
func (t *translation) emailMatches(s *setting) {
	items := texts(s.value)
	if len(items) == 0 {
		return
	}
	for i, item := range items {
		if !strings.HasSuffix(item, "$") && !isReference(item) {
			items[i] = item + "$"
		}
	}
	const note = "each expression must match up to the end of the address, which must be verified; Flipt also accepts addresses that go on"
	t.out.put(s.key, list(items), note)
	t.found(s, "means something else: "+note)
}

// github writes a key of the code host whose value has another form here. It reports
// whether it did.
func (t *translation) github(s *setting) bool {
	if !t.githubTold {
		t.githubTold = true
		t.find(s, "methods.github is methods.codehost here; register the callback URL with /auth/v1/method/codehost/callback at the code host")
	}
	organizations, teams := t.value(githubKey+"allowed_organizations"), t.value(config.FliptTeams)
	switch s.key {
	case config.FliptTeams:
		t.putTeams(s)
	case githubKey + "allowed_organizations":
		if teams != nil && len(teams.Content) > 0 {
			t.find(s, "follows from allowed_teams: as in Flipt, an organization without a team admits nobody")
			return true
		}
		t.restricted = t.restricted || len(texts(organizations)) > 0
		t.put(s.entry.To, s)
	default:
		t.put(s.entry.To, s)
	}
	return true
}

// putTeams writes the teams with their organizations, in the case of allowed_organizations.
func (t *translation) putTeams(s *setting) {
	if s.value.Kind != yaml.MappingNode {
		t.out.put(s.entry.To, s.value) // the check of the result rejects it
		return
	}
	var all []string
	for i := 0; i+1 < len(s.value.Content); i += 2 {
		organization := s.value.Content[i].Value
		for _, known := range texts(t.value(githubKey + "allowed_organizations")) {
			if strings.EqualFold(known, organization) {
				organization = known
			}
		}
		for _, team := range texts(config.Resolve(s.value.Content[i+1])) {
			all = append(all, organization+"/"+team)
		}
	}
	if len(all) == 0 {
		return
	}
	t.restricted = true
	t.out.put(s.entry.To, list(all))
	t.found(s, "is a list such as acme/backend here")
}
