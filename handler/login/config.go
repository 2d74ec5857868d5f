package login

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/login/kubernetes"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/oidc"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// Config configures a [SignIn]. Secrets and Now are required.
type Config struct {
	PublicPath string              // the path of the public URL, without a trailing slash
	PublicURL  string              // the public URL, without a trailing slash
	OIDC       map[string]OIDC     // the OpenID providers, by name
	Codehost   *Codehost           // nil for none
	Cluster    *kubernetes.Cluster // nil for none
	JWT        call.Verifier       // nil if JSON web tokens are not accepted

	Secrets       service.SecretStore
	Session       call.SessionCookie // with the lifetime of a browser session
	CLILifetime   time.Duration      // of a session of the command line
	StateLifetime time.Duration      // of an attempt
	Most          int                // sessions of one person
	Observer      Observer           // optional
	Logger        *slog.Logger       // nil disables logging
	Now           func() time.Time
}

// OIDC is an OpenID provider.
type OIDC struct {
	*oidc.Provider
	DisplayName string
	Logout      bool // signing out also redirects to the provider
}

// Codehost is a code host.
type Codehost struct {
	People
	Type          string // such as "github"
	DisplayName   string
	Organizations []string // that are allowed
}

// People is a provider that vouches for people.
type People interface {
	Fingerprint() loginstate.Fingerprint
	AuthorizeURL(ctx context.Context, a *loginstate.Attempt) (string, error)
	Identify(ctx context.Context, a *loginstate.Attempt, code string) (*service.Identity, error)
}

// Observer is notified of attempts to sign in, and of their requests to providers. It is called
// concurrently.
type Observer interface {
	provider.Observer
	// SignInExpected is called once for each combination that SignedIn may have.
	SignInExpected(method, provider, result string)
	// SignedIn is called once for each attempt that ended. The result is "ok" or one of the
	// reasons of package auth, and provider a configured one or "".
	SignedIn(method, provider, result string)
}

// Checked is the result of the check of one provider.
type Checked struct {
	Name string   // such as "oidc google"
	URLs []string // that this service must be able to reach, as far as they are known
	Err  error    // nil if it is usable
}

// checker is a provider that can be asked whether it is usable.
type checker interface {
	Check(ctx context.Context) (urls []string, err error)
}

// Check asks all providers for what signing in needs, one after the other.
func (s *SignIn) Check(ctx context.Context) []Checked {
	var all []Checked
	add := func(name string, c any) {
		if c, ok := c.(checker); ok {
			urls, err := c.Check(ctx)
			all = append(all, Checked{Name: name, URLs: urls, Err: err})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.config.OIDC)) {
		add(methodOIDC+" "+name, s.config.OIDC[name].Provider)
	}
	if s.config.Codehost != nil {
		add(methodCodehost, s.config.Codehost.People)
	}
	if s.config.Cluster != nil {
		add(methodKubernetes, s.config.Cluster)
	}
	if s.config.JWT != nil {
		add("jwt", s.config.JWT)
	}
	return all
}
