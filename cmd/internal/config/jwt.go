package config

import (
	"time"

	"github.com/guidonhq/guidon/handler/login/bearer"
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

// Bearer returns the configuration of the verifier of JSON Web Tokens.
func (c *Config) Bearer(observer provider.Observer) bearer.Config {
	j := c.Authentication.Methods.JWT
	claims := j.ValidateClaims
	return bearer.Config{
		DiscoveryURL: j.DiscoveryURL, JWKSURL: j.JWKSURL, PublicKeyFile: j.PublicKeyFile,
		Issuer: claims.Issuer, Subject: claims.Subject, Audiences: claims.Audiences, AnyAudience: claims.AnyAudience,
		GroupsClaim: j.GroupsClaim, RolesClaim: j.RolesClaim, Algorithms: j.SigningAlgs, CAPath: j.CAPath, Observer: observer, Now: time.Now,
	}
}

func (c *Config) checkJWT(found *problems) {
	if c.Authentication.Methods.JWT.Enabled {
		_, err := bearer.New(c.Bearer(nil))
		found.in(jwtKey).fields(err)
	}
}
