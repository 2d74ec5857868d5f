package kubernetes

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

// Cluster verifies the tokens of the service accounts of one cluster. It is safe for
// concurrent use.
type Cluster struct {
	verifier    verifier
	allowed     service.ServiceAccounts
	maxLifetime time.Duration
	now         func() time.Time
}

// verifier verifies a token and its audience.
type verifier interface {
	verify(ctx context.Context, raw string, a *account) error
	// probe finds out whether tokens can be verified; see [Cluster.Check].
	probe(ctx context.Context) (urls []string, err error)
}

// Verify verifies the token and returns the identity of its account, which expires when
// the token does, or after Config.MaxLifetime if that is earlier.
//
// The error of a token that is not accepted is Unauthenticated, and the same for clients
// whatever the reason; that of an account that is not allowed is PermissionDenied. It is
// Unavailable if the API server cannot be used, Internal if our own token is refused or
// cannot be read, or that of ctx.
func (c *Cluster) Verify(ctx context.Context, raw string) (*service.Identity, error) {
	now := c.now()
	a, err := parseAccount(raw, now)
	if err != nil {
		return nil, issuer.Refused(err)
	}
	if err := c.verifier.verify(ctx, raw, a); err != nil {
		return nil, err
	}
	if !c.allowed.Match(a.namespace + "/" + a.name) {
		cause := fmt.Errorf("service account %s/%s is not among allowed_service_accounts", a.namespace, a.name)
		return nil, &guidon.Error{Code: guidon.PermissionDenied, Message: "permission denied", Err: cause}
	}
	return a.identity(c.expiry(a, now)), nil
}

// Check gets the published keys, or sends the API server an invalid token to review. It
// returns the URLs that this service must be able to reach. With an error they are those
// that are known.
func (c *Cluster) Check(ctx context.Context) (urls []string, err error) {
	return c.verifier.probe(ctx)
}

// expiry returns when the identity of the account expires.
func (c *Cluster) expiry(a *account, now time.Time) time.Time {
	if c.maxLifetime == 0 {
		return a.expires
	}
	latest := now.Add(c.maxLifetime).UTC().Truncate(time.Second)
	if latest.Before(a.expires) {
		return latest
	}
	return a.expires
}

// identity returns the identity of a verified account.
func (a *account) identity(expires time.Time) *service.Identity {
	return &service.Identity{
		Method:   service.MethodKubernetes,
		Subject:  "kubernetes:serviceaccount:" + a.namespace + "/" + a.name,
		Subjects: []string{"kubernetes:namespace:" + a.namespace},
		Metadata: map[string]string{
			"io.service.auth.k8s.namespace":           a.namespace,
			"io.service.auth.k8s.pod.name":            a.podName,
			"io.service.auth.k8s.pod.uid":             a.podUID,
			"io.service.auth.k8s.serviceaccount.name": a.name,
			"io.service.auth.k8s.serviceaccount.uid":  a.uid,
		},
		Expires: expires,
	}
}

// clientTokenPurpose ensures that the key gives nothing else of the same value.
const clientTokenPurpose = "guidon: client token for a service account token\x00" // #nosec G101 -- a name, not a credential

// ClientToken returns the client token that a service account token is exchanged for. It
// is always the same, so a client that exchanges its token for each request causes only
// one write. Without the key, which only the instances know, it cannot be guessed.
func ClientToken(key [32]byte, raw string) string {
	mac := hmac.New(sha256.New, key[:])
	mac.Write([]byte(clientTokenPurpose + raw))
	return service.TokenOf([32]byte(mac.Sum(nil)))
}
