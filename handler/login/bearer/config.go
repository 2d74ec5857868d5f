package bearer

import (
	"errors"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

// Config configures a [Verifier].
type Config struct {
	// Exactly one of these says where the keys are: the URL below which the discovery
	// document is, the URL of the key set, or a PEM file with public keys.
	DiscoveryURL  string
	JWKSURL       string
	PublicKeyFile string

	// Issuer is the required value of iss. If it is empty, iss must be the issuer of the discovery
	// document or, without one, may be anything.
	Issuer  string
	Subject string // the required value of sub, or "" for any
	// Audiences are those of which aud must contain one. They are required unless
	// AnyAudience is true, in which case aud is not checked.
	Audiences   []string
	AnyAudience bool

	GroupsClaim string            // a [issuer.ClaimPath]; "" is none
	RolesClaim  string            // a [issuer.ClaimPath]; "" is none
	Algorithms  []string          // nil means all of [issuer.DefaultAlgorithms]
	CAPath      string            // certificate authorities of the URL, or "" for those of the system
	Observer    provider.Observer // optional
	Now         func() time.Time  // required
}

// New returns a verifier. It reads the files, but sends no request. The error joins all
// that is wrong with the configuration, as [provider.FieldError].
func New(c Config) (*Verifier, error) {
	if c.Algorithms == nil {
		c.Algorithms = issuer.DefaultAlgorithms()
	}
	keys, err := c.open()
	if err := errors.Join(c.check(), err); err != nil {
		return nil, err
	}
	return &Verifier{
		config: c, keys: keys, memory: newMemory(maxEntries, maxSize),
		groups: issuer.ClaimPath(c.GroupsClaim), roles: issuer.ClaimPath(c.RolesClaim),
	}, nil
}

// open returns the keys, with the discovery document if there is one.
func (c *Config) open() (*issuer.KeySet, error) {
	if c.PublicKeyFile != "" {
		keys, err := issuer.KeyFile(c.PublicKeyFile, c.Algorithms)
		return keys, provider.Invalid("public_key_file", err)
	}
	client, err := provider.New(provider.Config{Name: "jwt", CAPath: c.CAPath, Observer: c.Observer})
	if err != nil {
		return nil, err
	}
	return issuer.Remote(issuer.Config{
		Client: client, Issuer: c.Issuer, DiscoveryURL: c.DiscoveryURL, KeysURL: c.JWKSURL, KeysOnly: true, Algorithms: c.Algorithms, Now: c.Now,
	}), nil
}

// check returns an error for each rule that the configuration breaks.
func (c *Config) check() error {
	var sources []string
	for _, source := range []struct{ field, value string }{
		{"discovery_url", c.DiscoveryURL}, {"jwks_url", c.JWKSURL}, {"public_key_file", c.PublicKeyFile},
	} {
		if source.value != "" {
			sources = append(sources, source.field)
		}
	}
	var problems []error
	fail := func(field, rule string) { problems = append(problems, provider.Invalid(field, errors.New(rule))) }
	switch {
	case len(sources) == 0:
		fail("enabled", "requires one of discovery_url, jwks_url and public_key_file")
	case len(sources) > 1:
		fail(sources[1], "must not be set together with "+strings.Join(append(sources[:1:1], sources[2:]...), " and "))
	}
	if c.PublicKeyFile != "" && c.CAPath != "" {
		fail("ca_path", "must not be set together with public_key_file")
	}
	const audiences = "validate_claims.audiences"
	switch {
	case len(c.Audiences) == 0 && !c.AnyAudience:
		fail(audiences, "is required, because otherwise tokens for other services would be accepted; any_audience accepts them")
	case len(c.Audiences) > 0 && c.AnyAudience:
		fail("validate_claims.any_audience", "must not be set together with audiences")
	}
	return errors.Join(append(problems,
		provider.Invalid("discovery_url", provider.Optional(c.DiscoveryURL, provider.CheckBaseURL)),
		provider.Invalid("jwks_url", provider.Optional(c.JWKSURL, provider.CheckBaseURL)),
		provider.Invalid(audiences, provider.CheckNames(c.Audiences)),
		provider.Invalid("groups_claim", issuer.ClaimPath(c.GroupsClaim).Check()),
		provider.Invalid("roles_claim", issuer.ClaimPath(c.RolesClaim).Check()),
		provider.Invalid("signing_algs", issuer.CheckAlgorithms(c.Algorithms)),
	)...)
}
