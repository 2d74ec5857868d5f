package oidc

import (
	"maps"
	"strconv"

	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// The metadata of an identity. Those that do not name OpenID Connect are the same for all
// methods.
const (
	metadataPrefix = "io.service.auth."
	metadataOIDC   = metadataPrefix + "oidc."
)

// maxMetadataValue is the maximum length of a value in bytes. All values together remain
// below 8 KiB.
const maxMetadataValue = 1 << 10

// metadata returns the facts about the person that clients see. Values that are too long or unsafe to
// show are left out. The e-mail address for all methods is only there if it is verified:
// nothing next to it says whether it is.
func (p *Provider) metadata(who person, e email) map[string]string {
	name, picture := who.text("name"), provider.SafeURL(who.text("picture"))
	values := map[string]string{
		metadataOIDC + "provider":  p.config.Name,
		metadataOIDC + "sub":       who.sub,
		metadataOIDC + "email":     e.address,
		metadataOIDC + "name":      name,
		metadataOIDC + "picture":   picture,
		metadataOIDC + "profile":   provider.SafeURL(who.text("profile")),
		metadataPrefix + "name":    name,
		metadataPrefix + "picture": picture,
	}
	if e.address != "" {
		values[metadataOIDC+"email_verified"] = strconv.FormatBool(e.verified)
	}
	if e.verified {
		values[metadataPrefix+"email"] = e.address
	}
	maps.DeleteFunc(values, func(_, value string) bool {
		return value == "" || len(value) > maxMetadataValue || !service.IsClean(value)
	})
	return values
}
