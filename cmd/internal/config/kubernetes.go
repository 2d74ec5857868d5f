package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Kubernetes configures how pods exchange the token of their service account.
type Kubernetes struct {
	Enabled   bool     `key:"enabled" default:"false" doc:"Enables the exchange of service account tokens."`
	Cleanup   Cleanup  `key:"cleanup" doc:"Removal of expired tokens."`
	Verify    string   `key:"verify" default:"review" options:"review keys" fold:"true" doc:"review: the API server reviews each token, and so refuses those of deleted pods; the service account of this server needs the role system:auth-delegator. keys: tokens are verified with the published keys of the cluster, also from outside; a token is then accepted until it expires."`
	Audiences []string `key:"audiences" doc:"Audiences of which a token must have one. By default, a token must be for guidon or for the API server."`

	DiscoveryURL            string `key:"discovery_url" default:"https://kubernetes.default.svc.cluster.local" doc:"URL of the API server, or of the discovery document without /.well-known/openid-configuration."`
	JWKSURL                 string `key:"jwks_url" defaultText:"that of the discovery document" doc:"URL of the keys, if the one in the discovery document cannot be reached. Requires verify keys."`
	CAPath                  string `key:"ca_path" defaultText:"/var/run/secrets/kubernetes.io/serviceaccount/ca.crt if that file exists" doc:"PEM file of the certificate authorities trusted for the API server."`
	ServiceAccountTokenPath string `key:"service_account_token_path" defaultText:"/var/run/secrets/kubernetes.io/serviceaccount/token if that file exists" doc:"File with the token of the service account of this server, read again for each request to the API server."`

	AllowedServiceAccounts []string      `key:"allowed_service_accounts" doc:"Service accounts such as shop/checkout, with * for any namespace or any name. None allows all."`
	MaxLifetime            time.Duration `key:"max_lifetime" default:"0s" min:"0s" doc:"Maximum lifetime of a client token, from 1m to 720h. It never exceeds that of the service account token, which is what 0s means."`
}

// The values of authentication.methods.kubernetes.verify.
const (
	VerifyReview = "review"
	VerifyKeys   = "keys"
)

const (
	kubernetesKey = "authentication.methods.kubernetes"
	kubernetesDir = "/var/run/secrets/kubernetes.io/serviceaccount/"

	minKubernetesLifetime = time.Minute
	maxKubernetesLifetime = 30 * 24 * time.Hour
)

// Authorities returns the file of ca_path, or the default if it exists, or "".
func (k Kubernetes) Authorities() string { return orDefault(k.CAPath, kubernetesDir+"ca.crt") }

// TokenFile returns the file of service_account_token_path, or the default if it exists,
// or "".
func (k Kubernetes) TokenFile() string {
	return orDefault(k.ServiceAccountTokenPath, kubernetesDir+"token")
}

// orDefault returns the path, or the standard one if it exists, or "".
func orDefault(path, standard string) string {
	if path != "" {
		return path
	}
	if _, err := os.Stat(standard); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return standard
}

func (k Kubernetes) check(found *problems) {
	if !k.Enabled {
		return
	}
	at := found.in(kubernetesKey)
	if k.DiscoveryURL == "" {
		at.key("discovery_url", "must not be empty")
	} else {
		at.check("discovery_url", checkURL(k.DiscoveryURL))
	}
	switch {
	case k.JWKSURL == "":
	case k.Verify != VerifyKeys:
		at.key("jwks_url", "requires verify to be keys")
	default:
		at.check("jwks_url", checkURL(k.JWKSURL))
	}
	at.check("ca_path", checkAuthorities(k.CAPath))
	if k.ServiceAccountTokenPath != "" {
		at.check("service_account_token_path", checkFile(k.ServiceAccountTokenPath))
	}
	for _, audience := range k.Audiences {
		at.check("audiences", checkName(audience))
	}
	for _, account := range k.AllowedServiceAccounts {
		if !service.IsServiceAccountPattern(account) {
			at.key("allowed_service_accounts",
				fmt.Sprintf("must be service accounts such as shop/checkout, with * for any namespace or any name, not %q", account))
		}
	}
	if k.MaxLifetime != 0 && (k.MaxLifetime < minKubernetesLifetime || k.MaxLifetime > maxKubernetesLifetime) {
		at.key("max_lifetime", fmt.Sprintf("must be 0s, or from 1m to 720h, not %q", clock.Text(k.MaxLifetime)))
	}
}
