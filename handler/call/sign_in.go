package call

import (
	"context"
	"log/slog"

	"github.com/guidonhq/guidon/service"
)

// SignIn has the data that an attempt to sign in or out adds to its response. All but
// Location is for the log.
type SignIn struct {
	Location string // where a browser is sent, or ""
	Method   string // such as "oidc"
	Provider string // the name of an OpenID provider, or ""
	Reason   string // why it was refused, or ""
	Said     string // what the provider said of that: at most 200 printable characters, or ""
	Subject  string // who it was, as far as that was proved
}

// attributes appends those that are known.
func (s *SignIn) attributes(attributes []slog.Attr) []slog.Attr {
	if s == nil {
		return attributes
	}
	for _, a := range []slog.Attr{
		slog.String("sign_in_method", s.Method), slog.String("provider", s.Provider),
		slog.String("reason", s.Reason), slog.String("provider_said", s.Said), slog.String("subject", s.Subject),
	} {
		if a.Value.String() != "" {
			attributes = append(attributes, a)
		}
	}
	return attributes
}

// Verifier verifies tokens that are not stored, such as JWTs. It is safe for concurrent
// use.
type Verifier interface {
	// Remembered returns the identity that the token has proved before, if it still does.
	// It is cheap, and the same token gives the same pointer.
	Remembered(ctx context.Context, token string) (*service.Identity, bool)
	// Verify returns the identity that the token proves. It returns Unauthenticated for
	// every token that is not valid, and Unavailable if that cannot be found out.
	Verify(ctx context.Context, token string) (*service.Identity, error)
}

// FailedCredential returns err, of an operation that verifies a credential in its request,
// as one that counts as a failure of the sender.
func FailedCredential(err error) error { return &failedCredential{err} }

type failedCredential struct{ error }

func (f *failedCredential) Unwrap() error { return f.error }

// exhausted returns Limited if the next failure of the sender would be beyond a limit.
func (i *Invoker) exhausted(ctx context.Context, from Sender) error {
	if from == nil || i.config.Failures == nil || !i.config.Failures.Exhausted(i.config.Proxies.Caller(from.From(ctx))) {
		return nil
	}
	return tooMany(nil)
}
