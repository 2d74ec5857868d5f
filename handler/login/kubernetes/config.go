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

	"github.com/guidonhq/guidon/handler/login/provider"
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
// is wrong with the configuration.
func New(c Config) (*Cluster, error) { return open(c, mounted) }

func open(c Config, defaults files) (*Cluster, error) {
	c.Verify = cmp.Or(c.Verify, Review)
	c.DiscoveryURL = cmp.Or(c.DiscoveryURL, DefaultDiscoveryURL)
	own := &ownToken{path: c.ServiceAccountTokenPath, named: c.ServiceAccountTokenPath != ""}
	if !own.named {
		own.path = defaults.token
	}
	if err := errors.Join(c.check(), own.check()); err != nil {
		return nil, err
	}
	if c.CAPath == "" && exists(defaults.ca) {
		c.CAPath = defaults.ca
	}
	verifier, err := newVerifier(c, own)
	if err != nil {
		return nil, err
	}
	return &Cluster{verifier: verifier, allowed: slices.Clone(c.AllowedServiceAccounts), maxLifetime: c.MaxLifetime, now: c.Now}, nil
}

// exists reports whether there is a file. One that cannot be read is there, and its use
// fails.
func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// check returns an error for each rule that the configuration breaks.
func (c *Config) check() error {
	var problems []error
	fail := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	switch {
	case c.Verify != Review && c.Verify != Keys:
		fail("invalid verify %q: must be %s or %s", c.Verify, Review, Keys)
	case c.Verify == Review && c.JWKSURL != "":
		fail("invalid jwks_url: keys are not fetched unless verify is %s", Keys)
	}
	if err := provider.CheckURL(c.DiscoveryURL, true); err != nil {
		fail("invalid discovery_url: %w", err)
	}
	if slices.Contains(c.Audiences, "") {
		fail("invalid audiences: must not contain an empty one")
	}
	for _, text := range c.AllowedServiceAccounts {
		if !service.IsServiceAccountPattern(text) {
			fail(`invalid allowed_service_accounts %q: must be namespace/name, where either may be "*"`, text)
		}
	}
	if d := c.MaxLifetime; d != 0 && (d < minMaxLifetime || d > maxMaxLifetime) {
		fail("invalid max_lifetime: must be 1 minute to 30 days")
	}
	if c.Now == nil {
		fail("no clock")
	}
	return errors.Join(problems...)
}

// newVerifier returns the verifier of the configured mode.
func newVerifier(c Config, own *ownToken) (verifier, error) {
	config := provider.Config{Name: "kubernetes", CAPath: c.CAPath, Observer: c.Observer}
	if c.Verify == Keys {
		config.Bearer = own.read
	}
	client, err := provider.New(config)
	if err != nil {
		return nil, fmt.Errorf("invalid ca_path: %w", err)
	}
	if c.Verify == Keys {
		return newSignatures(c, client)
	}
	return &reviewer{
		client: client, own: own, audiences: c.Audiences,
		url: strings.TrimSuffix(c.DiscoveryURL, "/") + reviewPath, shared: newReviews(client),
	}, nil
}
