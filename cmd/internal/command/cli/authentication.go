package cli

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/service"
)

// Expiry returns when the token expires, for a table.
func (p *Program) Expiry(token *auth.Authentication) any {
	at := Instant(token.GetExpiresAt())
	if !at.IsZero() && !at.After(p.Now()) {
		return Colored{Red, at.Format(time.RFC3339) + " (expired)"}
	}
	return TimeOr(at, "never")
}

// Self returns the authentication of the client.
func Self(ctx context.Context, server client.Client) (*auth.Authentication, error) {
	return Call[auth.Authentication](ctx, server, "/flipt.auth.AuthenticationService/GetAuthenticationSelf", new(emptypb.Empty))
}

// nameKeys are the metadata that name a person, a token or a workload, the best first.
var nameKeys = []string{
	service.MetadataTokenName, "io.service.auth.name", "io.service.auth.email",
	"io.service.auth.jwt.name", "io.service.auth.jwt.email", "io.service.auth.jwt.sub", "io.service.auth.k8s.serviceaccount.name",
}

// NameOf returns the name of the person, the token or the workload, or "".
func NameOf(a *auth.Authentication) string {
	for _, key := range nameKeys {
		if name := a.GetMetadata()[key]; name != "" {
			return name
		}
	}
	return ""
}

// MethodOf returns the method of signing in, in the form for people.
func MethodOf(a *auth.Authentication) string {
	return strings.ToLower(strings.TrimPrefix(a.GetMethod().String(), "METHOD_"))
}

// NamespacesOf returns namespaces for a table.
func NamespacesOf(keys []string) string {
	if on := strings.Join(keys, ","); on != service.Everywhere {
		return on
	}
	return "all"
}
