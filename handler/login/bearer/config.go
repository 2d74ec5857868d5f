package bearer

import (
	"errors"
	"fmt"
	"slices"
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
// that is wrong with the configuration.
func New(c Config) (*Verifier, error) {
	if c.Algorithms == nil {
		c.Algorithms = issuer.DefaultAlgorithms()
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	v := &Verifier{
		config: c, memory: newMemory(maxEntries, maxWeight),
		groups: issuer.ClaimPath(c.GroupsClaim), roles: issuer.ClaimPath(c.RolesClaim),
	}
	return v, v.open()
}

// check returns an error for each rule that the configuration breaks.
func (c *Config) check() error {
	var problems []error
	fail := func(text string) { problems = append(problems, errors.New(text)) }
	sources := slices.DeleteFunc([]string{c.DiscoveryURL, c.JWKSURL, c.PublicKeyFile}, func(s string) bool { return s == "" })
	if len(sources) != 1 {
		fail(fmt.Sprintf("%d sources of keys; exactly one of discovery_url, jwks_url and public_key_file is required", len(sources)))
	}
	if c.PublicKeyFile != "" && c.CAPath != "" {
		fail("invalid ca_path: nothing is requested with public_key_file")
	}
	switch {
	case len(c.Audiences) == 0 && !c.AnyAudience:
		fail("audiences is required unless any_audience is true")
	case len(c.Audiences) > 0 && c.AnyAudience:
		fail("invalid any_audience: must not be true if there are audiences")
	case slices.Contains(c.Audiences, ""):
		fail("invalid audiences: must not contain an empty one")
	}
	if c.Now == nil {
		fail("no clock")
	}
	return errors.Join(append(problems,
		provider.Invalid("groups_claim", issuer.ClaimPath(c.GroupsClaim).CheckOptional()),
		provider.Invalid("roles_claim", issuer.ClaimPath(c.RolesClaim).CheckOptional()),
		provider.Invalid("signing_algs", issuer.CheckAlgorithms(c.Algorithms)),
	)...)
}

// open sets the keys and, if there is one, the discovery document.
func (v *Verifier) open() error {
	c, err := v.config, error(nil)
	if c.PublicKeyFile != "" {
		v.keys, err = issuer.KeyFile(c.PublicKeyFile, c.Algorithms)
		return provider.Invalid("public_key_file", err)
	}
	client, err := provider.New(provider.Config{Name: "jwt", CAPath: c.CAPath, Observer: c.Observer})
	if err != nil {
		return provider.Invalid("ca_path", err)
	}
	if c.DiscoveryURL != "" {
		discovery := issuer.DiscoveryConfig{Client: client, Issuer: c.Issuer, URL: c.DiscoveryURL, KeysOnly: true, Now: c.Now}
		if v.document, err = issuer.NewDiscovery(discovery); err != nil {
			return provider.Invalid("discovery_url", err)
		}
	}
	keys := issuer.KeyConfig{Client: client, URL: c.JWKSURL, Discovery: v.document, Algorithms: c.Algorithms, Now: c.Now}
	v.keys, err = issuer.RemoteKeys(keys)
	return provider.Invalid("jwks_url", err)
}
