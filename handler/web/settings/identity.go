package settings

import (
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// Metadata of people.
const (
	metadataEmail    = "io.service.auth.email"
	metadataProvider = "io.service.auth.oidc.provider"
)

// maxShown limits texts of others on one line, in bytes.
const maxShown = 255

// signedInBy returns how the visitor signed in, in words.
func signedInBy(a *service.Authentication) string {
	switch a.Method {
	case service.MethodToken:
		return "with a static token"
	case service.MethodOIDC:
		if provider := page.Printable(a.Metadata[metadataProvider], maxShown); provider != "" {
			return "with the provider " + provider
		}
		return "with an OpenID provider"
	case service.MethodCodehost:
		return "with the code host"
	case service.MethodKubernetes:
		return "as a Kubernetes service account"
	case service.MethodJWT:
		return "with a JWT"
	}
	return ""
}

// clientOf returns the client of a session, in words.
func clientOf(s *auth.Authentication) string {
	name := page.Printable(s.GetMetadata()[service.MetadataSessionName], maxShown)
	switch {
	case s.GetClient() != string(service.ClientCLI):
		return "Browser"
	case name != "":
		return "Command line on " + name
	}
	return "Command line"
}

// isPerson reports whether the visitor is signed in, as opposed to a server that requires
// no credentials.
func isPerson(v *page.Visit) bool { return v.Visitor.Authentication != nil }
