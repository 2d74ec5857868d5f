package oidc

import (
	"net/url"
	"strconv"

	"github.com/guidonhq/guidon/handler/login/claims"
)

// The metadata of an identity. Those that do not name OpenID Connect are the same for all
// methods.
const (
	metadataPrefix = "io.service.auth."
	metadataOIDC   = metadataPrefix + "oidc."
)

// Limits of metadata, in bytes.
const (
	maxMetadataValue = 1 << 10
	maxMetadata      = 8 << 10
)

// metadata returns what clients see of the person. Values that are too long or unsafe to
// show are left out. The e-mail address for all methods is only there if it is verified:
// nothing next to it says whether it is.
func (p *Provider) metadata(who person, e email) map[string]string {
	m := metadata{pairs: map[string]string{}}
	m.add(metadataOIDC+"provider", p.config.Name)
	m.add(metadataOIDC+"sub", who.sub)
	if e.address != "" {
		m.add(metadataOIDC+"email_verified", strconv.FormatBool(e.verified))
		m.add(metadataOIDC+"email", e.address)
	}
	if e.verified {
		m.add(metadataPrefix+"email", e.address)
	}
	m.add(metadataPrefix+"name", who.text("name"))
	m.add(metadataOIDC+"name", who.text("name"))
	m.add(metadataPrefix+"picture", safeURL(who.text("picture")))
	m.add(metadataOIDC+"picture", safeURL(who.text("picture")))
	m.add(metadataOIDC+"profile", safeURL(who.text("profile")))
	return m.pairs
}

// metadata collects pairs up to maxMetadata, the most important first.
type metadata struct {
	pairs map[string]string
	size  int
}

func (m *metadata) add(key, value string) {
	size := len(key) + len(value)
	if value == "" || len(value) > maxMetadataValue || !claims.IsClean(value) || m.size+size > maxMetadata {
		return
	}
	m.pairs[key] = value
	m.size += size
}

// safeURL returns the URL if a page may show it, otherwise "".
func safeURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return ""
	}
	return raw
}
