package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Ways to verify a token.
const (
	// Review asks the API server, which also knows whether pod and account still exist.
	Review = "review"
	// Keys verifies the signature with the published keys.
	Keys = "keys"
)

// DefaultDiscoveryURL is the address of the API server within its cluster.
const DefaultDiscoveryURL = "https://kubernetes.default.svc.cluster.local"

// DefaultAudience is the audience that tokens for this service should have.
const DefaultAudience = "guidon"

// Config configures a [Cluster]. Now is required; the zero value of every other field is a
// usable default.
type Config struct {
	Verify    string   // Review, which is the default, or Keys
	Audiences []string // those of which a token must have one; none are those of the mode
	// DiscoveryURL is the URL of the API server or, for Keys, another URL below which the
	// discovery document is. Empty means DefaultDiscoveryURL.
	DiscoveryURL string
	// JWKSURL is where the keys are, instead of the URL in the discovery document. It is
	// for Keys only.
	JWKSURL string
	// CAPath and ServiceAccountTokenPath name the certificate authorities of the API
	// server and our own token. A file that is named must exist. Empty means the file that
	// Kubernetes mounts into each pod, which is not used if it does not exist.
	CAPath                  string
	ServiceAccountTokenPath string
	// AllowedServiceAccounts are the accounts that are admitted, as "namespace/name".
	// Either may be "*". None means all.
	AllowedServiceAccounts []string
	MaxLifetime            time.Duration     // of an identity: 1 minute to 30 days, or 0 for that of the token
	Observer               provider.Observer // optional
	Now                    func() time.Time
}

// Limits of Config.MaxLifetime.
const (
	minMaxLifetime = time.Minute
	maxMaxLifetime = 30 * 24 * time.Hour
)

// files are those that Kubernetes mounts.
type files struct{ ca, token string }

var mounted = files{
	ca:    "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
	token: "/var/run/secrets/kubernetes.io/serviceaccount/token", // #nosec G101 -- a path, not a credential
}

// New returns a cluster. It reads the files, but sends no request. The error joins all that
// is wrong with the configuration, as [provider.FieldError].
func New(c Config) (*Cluster, error) { return open(c, mounted) }

func open(c Config, defaults files) (*Cluster, error) {
	c.Verify = cmp.Or(c.Verify, Review)
	c.DiscoveryURL = cmp.Or(c.DiscoveryURL, DefaultDiscoveryURL)
	own := &ownToken{path: cmp.Or(c.ServiceAccountTokenPath, defaults.token), named: c.ServiceAccountTokenPath != ""}
	if c.CAPath == "" && exists(defaults.ca) {
		c.CAPath = defaults.ca
	}
	verifier, err := newVerifier(c, own)
	if err := errors.Join(c.check(), provider.Invalid("service_account_token_path", own.check()), err); err != nil {
		return nil, err
	}
	return &Cluster{verifier: verifier, allowed: slices.Clone(c.AllowedServiceAccounts), maxLifetime: c.MaxLifetime, now: c.Now}, nil
}

// HasToken reports whether there is a file of ServiceAccountTokenPath, or the default.
func HasToken(path string) bool { return exists(cmp.Or(path, mounted.token)) }

// exists reports whether there is a file. One that cannot be read is there, and its use
// fails.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// check returns an error for each rule that the configuration breaks.
func (c *Config) check() error {
	var problems []error
	fail := func(field, rule string, args ...any) {
		problems = append(problems, provider.Invalid(field, fmt.Errorf(rule, args...)))
	}
	switch {
	case c.Verify != Review && c.Verify != Keys:
		fail("verify", "must be %s or %s, not %q", Review, Keys, c.Verify)
	case c.Verify == Review && c.JWKSURL != "":
		fail("jwks_url", "requires verify to be %s", Keys)
	}
	for _, account := range c.AllowedServiceAccounts {
		if !service.IsServiceAccountPattern(account) {
			fail("allowed_service_accounts", "must be service accounts such as shop/checkout, with * for any namespace or any name, not %q", account)
		}
	}
	if d := c.MaxLifetime; d != 0 && (d < minMaxLifetime || d > maxMaxLifetime) {
		fail("max_lifetime", "must be 0s, or from 1m to 720h, not %q", clock.Text(d))
	}
	return errors.Join(append(problems,
		provider.Invalid("discovery_url", provider.CheckBaseURL(c.DiscoveryURL)),
		provider.Invalid("jwks_url", provider.Optional(c.JWKSURL, provider.CheckBaseURL)),
		provider.Invalid("audiences", provider.CheckNames(c.Audiences)),
	)...)
}

// newVerifier returns the verifier of the configured mode.
func newVerifier(c Config, own *ownToken) (verifier, error) {
	config := provider.Config{Name: "kubernetes", CAPath: c.CAPath, Observer: c.Observer}
	if c.Verify == Keys {
		config.Bearer = own.read
	}
	client, err := provider.New(config)
	if err != nil {
		return nil, err
	}
	if c.Verify == Keys {
		keys := issuer.Config{
			Client: client, DiscoveryURL: c.DiscoveryURL, KeysURL: c.JWKSURL, KeysOnly: true, Algorithms: issuer.DefaultAlgorithms(), Now: c.Now,
		}
		return &signatures{keys: issuer.Remote(keys), audiences: c.Audiences, now: c.Now}, nil
	}
	return &reviewer{
		client: client, own: own, audiences: c.Audiences,
		url: strings.TrimSuffix(c.DiscoveryURL, "/") + reviewPath, shared: newReviews(client),
	}, nil
}
