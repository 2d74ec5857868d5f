package config

import (
	"time"

	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/provider"
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

const kubernetesKey = "authentication.methods.kubernetes"

// Cluster returns the configuration of the cluster whose service accounts are accepted.
func (c *Config) Cluster(observer provider.Observer) kubernetes.Config {
	k := c.Authentication.Methods.Kubernetes
	return kubernetes.Config{
		Verify: k.Verify, Audiences: k.Audiences, DiscoveryURL: k.DiscoveryURL, JWKSURL: k.JWKSURL,
		CAPath: k.CAPath, ServiceAccountTokenPath: k.ServiceAccountTokenPath,
		AllowedServiceAccounts: k.AllowedServiceAccounts, MaxLifetime: k.MaxLifetime, Observer: observer, Now: time.Now,
	}
}

func (c *Config) checkKubernetes(found *problems) {
	if !c.Authentication.Methods.Kubernetes.Enabled {
		return
	}
	at := found.in(kubernetesKey)
	if c.Authentication.Methods.Kubernetes.DiscoveryURL == "" {
		at.key("discovery_url", "must not be empty")
	}
	_, err := kubernetes.New(c.Cluster(nil))
	at.fields(err)
}
