package config

import (
	"strings"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
)

const jwtKey = "authentication.methods.jwt"

// JWT configures which JSON Web Tokens are accepted. Nothing of them is stored, so there is
// no cleanup.
type JWT struct {
	Enabled        bool           `key:"enabled" default:"false"`
	DiscoveryURL   string         `key:"discovery_url"`
	JWKSURL        string         `key:"jwks_url"`
	PublicKeyFile  string         `key:"public_key_file"`
	ValidateClaims ValidateClaims `key:"validate_claims"`
	GroupsClaim    string         `key:"groups_claim" default:"groups"`
	RolesClaim     string         `key:"roles_claim"`
	SigningAlgs    []string       `key:"signing_algs" default:"RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA"`
	CAPath         string         `key:"ca_path" defaultText:"the authorities of the system"`
}

// ValidateClaims configures the required claims of a JSON Web Token.
type ValidateClaims struct {
	Issuer      string   `key:"issuer" defaultText:"the issuer of the discovery document; otherwise any"`
	Subject     string   `key:"subject" defaultText:"any"`
	Audiences   []string `key:"audiences"`
	AnyAudience bool     `key:"any_audience" default:"false"`
}

func (j JWT) check(found *problems) {
	if !j.Enabled {
		return
	}
	at := found.in(jwtKey)
	j.checkKeys(at)
	claims := found.in(jwtKey + ".validate_claims")
	switch {
	case len(j.ValidateClaims.Audiences) == 0 && !j.ValidateClaims.AnyAudience:
		claims.key("audiences", "is required, because otherwise tokens for other services would be accepted; any_audience accepts them")
	case len(j.ValidateClaims.Audiences) > 0 && j.ValidateClaims.AnyAudience:
		claims.key("any_audience", "must not be set together with audiences")
	}
	for _, audience := range j.ValidateClaims.Audiences {
		claims.check("audiences", checkName(audience))
	}
	at.check("groups_claim", issuer.ClaimPath(j.GroupsClaim).CheckOptional())
	at.check("roles_claim", issuer.ClaimPath(j.RolesClaim).CheckOptional())
}

// checkKeys checks the source of the keys, and their algorithms.
func (j JWT) checkKeys(at scope) {
	var set []string
	for _, source := range []struct{ key, value string }{
		{"discovery_url", j.DiscoveryURL}, {"jwks_url", j.JWKSURL}, {"public_key_file", j.PublicKeyFile},
	} {
		if source.value != "" {
			set = append(set, source.key)
		}
	}
	switch {
	case len(set) == 0:
		at.key("enabled", "requires one of discovery_url, jwks_url and public_key_file")
	case len(set) > 1:
		at.key(set[1], "must not be set together with "+strings.Join(append(set[:1:1], set[2:]...), " and "))
	}
	at.optional("discovery_url", j.DiscoveryURL, provider.CheckBaseURL)
	at.optional("jwks_url", j.JWKSURL, provider.CheckBaseURL)
	if err := issuer.CheckAlgorithms(j.SigningAlgs); err != nil {
		at.check("signing_algs", err)
	} else if j.PublicKeyFile != "" {
		_, err := issuer.KeyFile(j.PublicKeyFile, j.SigningAlgs)
		at.check("public_key_file", err)
	}
	at.optional("ca_path", j.CAPath, checkAuthorities)
	if j.CAPath != "" && j.PublicKeyFile != "" {
		at.key("ca_path", "must not be set together with public_key_file")
	}
}
