package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Kubernetes configures how pods exchange the token of their service account.
type Kubernetes struct {
	Enabled   bool     `key:"enabled" default:"false"`
	Cleanup   Cleanup  `key:"cleanup"`
	Verify    string   `key:"verify" default:"review" options:"review keys" fold:"true"`
	Audiences []string `key:"audiences"`

	DiscoveryURL            string `key:"discovery_url" default:"https://kubernetes.default.svc.cluster.local"`
	JWKSURL                 string `key:"jwks_url" defaultText:"that of the discovery document"`
	CAPath                  string `key:"ca_path" defaultText:"/var/run/secrets/kubernetes.io/serviceaccount/ca.crt if that file exists"`
	ServiceAccountTokenPath string `key:"service_account_token_path" defaultText:"/var/run/secrets/kubernetes.io/serviceaccount/token if that file exists"`

	AllowedServiceAccounts []string      `key:"allowed_service_accounts"`
	MaxLifetime            time.Duration `key:"max_lifetime" default:"0s" min:"0s"`
}

const (
	kubernetesKey   = "authentication.methods.kubernetes"
	kubernetesToken = "/var/run/secrets/kubernetes.io/serviceaccount/token" // #nosec G101 -- a path

	minKubernetesLifetime = time.Minute
	maxKubernetesLifetime = 30 * 24 * time.Hour
)

// hasToken reports whether there is a file of service_account_token_path, or the default.
func (k Kubernetes) hasToken() bool {
	_, err := os.Stat(cmp.Or(k.ServiceAccountTokenPath, kubernetesToken))
	return !errors.Is(err, fs.ErrNotExist)
}

func (k Kubernetes) check(found *problems) {
	if !k.Enabled {
		return
	}
	at := found.in(kubernetesKey)
	if k.DiscoveryURL == "" {
		at.key("discovery_url", "must not be empty")
	} else {
		at.check("discovery_url", provider.CheckBaseURL(k.DiscoveryURL))
	}
	switch {
	case k.JWKSURL == "":
	case k.Verify != kubernetes.Keys:
		at.key("jwks_url", "requires verify to be keys")
	default:
		at.check("jwks_url", provider.CheckBaseURL(k.JWKSURL))
	}
	at.optional("ca_path", k.CAPath, checkAuthorities)
	at.optional("service_account_token_path", k.ServiceAccountTokenPath, checkFile)
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
