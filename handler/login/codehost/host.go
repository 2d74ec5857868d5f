package codehost

import (
	"context"

	"golang.org/x/oauth2"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

// Host is a code host at which people sign in. It is safe for concurrent use.
type Host struct {
	kind        *kind
	client      *provider.Client
	server, api string // URLs without a slash at the end
	oauth       oauth2.Config
	pkce        bool
	reads       func(item) bool // with the scopes
	fingerprint loginstate.Fingerprint
}

// Fingerprint returns the fingerprint to which attempts at the host are bound.
func (h *Host) Fingerprint() loginstate.Fingerprint { return h.fingerprint }

// AuthorizeURL returns where the browser must be sent. It sends no request; context and
// error are there because the endpoints of other providers must be fetched.
func (h *Host) AuthorizeURL(_ context.Context, a *loginstate.Attempt) (string, error) {
	var options []oauth2.AuthCodeOption
	if h.pkce {
		options = append(options, oauth2.S256ChallengeOption(a.Verifier()))
	}
	return h.oauth.AuthCodeURL(a.State(), options...), nil
}

// Identify returns the person for whom the host issued the code in this attempt, which must
// be one at this host. The access token is forgotten when it returns.
//
// Names of organizations and teams are in lower case in Subjects, as are e-mail addresses
// and domains, because code hosts do not distinguish case: compare them in lower case. The
// subjects are complete, which may be hundreds. In Metadata, the lists of organizations and
// teams have the host's spelling, and only as many elements as fit into the limits.
//
// The codes of its errors, whose causes are for logs only:
//
//   - Unauthenticated: the host rejected the code.
//   - PermissionDenied: the account is not active, or the host does not let all be read that
//     the scopes promise, or a list is too long.
//   - Internal: the host rejected the client credentials or the redirect URI.
//   - Unavailable: the host cannot be used now.
//   - Canceled, DeadlineExceeded: ctx ended first.
func (h *Host) Identify(ctx context.Context, a *loginstate.Attempt, code string) (*service.Identity, error) {
	leave, err := h.client.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	token, err := h.exchange(ctx, a.Verifier(), code)
	if err != nil {
		return nil, err
	}
	p, err := h.kind.read(ctx, newAPI(h, token))
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, h.client.Unavailable(err)
	}
	return p.identity(h), nil
}

// refused returns the error for a code that is not accepted.
func refused(err error) error {
	const message = "this attempt to sign in is not valid; begin again"
	return &guidon.Error{Code: guidon.Unauthenticated, Message: message, Err: err}
}
