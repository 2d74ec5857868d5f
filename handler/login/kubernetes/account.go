package kubernetes

import (
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/handler/login/provider"
	"github.com/guidonhq/guidon/service"
)

const (
	maxToken  = 16 << 10 // bytes
	maxName   = 253      // bytes of the name of an object
	maxUID    = 128      // bytes; they are UUIDs so far
	tokenType = "JWT"
)

// account has the claims of a token about a service account. It is not verified.
type account struct {
	namespace, name, uid string
	podName, podUID      string // "" for a token without a pod
	issuer               string
	audiences            []string
	expires              time.Time
}

// user returns the name of the account as a user.
func (a *account) user() string { return userPrefix + a.namespace + ":" + a.name }

// parseAccount returns the claims of the token. It returns an error if the token is not one
// of a service account, or has expired. So only such tokens are sent to the API server.
func parseAccount(raw string, now time.Time) (*account, error) {
	c, err := issuer.Unverified(raw, maxToken, tokenType)
	if err != nil {
		return nil, err
	}
	a := new(account)
	for _, name := range []string{"nbf", "iat"} { // by the clock of the verifier, they may be ahead
		if _, err := c.Time(name); err != nil {
			return nil, err
		}
	}
	expires, err := c.Time("exp")
	a.expires = expires.Truncate(time.Second) // that of the client token is to the second
	switch {
	case err != nil:
		return nil, err
	case a.expires.IsZero():
		return nil, errors.New("token does not expire; only tokens with exp are accepted")
	case !a.expires.After(now):
		return nil, fmt.Errorf("token expired at %s", a.expires.Format(time.RFC3339))
	}
	if a.issuer, err = c.Text("iss"); err != nil {
		return nil, err
	}
	if c.Has("aud") {
		if a.audiences, err = c.Audience(); err != nil {
			return nil, err
		}
	}
	return a, a.setObjects(c)
}

const userPrefix = "system:serviceaccount:"

// setObjects sets the account and the pod. The claim sub and the private claims of
// Kubernetes must name the same account.
func (a *account) setObjects(c issuer.Claims) error {
	private, ok := c["kubernetes.io"].(map[string]any)
	if !ok {
		return errors.New("token has no claims of kubernetes.io")
	}
	object, _ := private["serviceaccount"].(map[string]any)
	pod, _ := private["pod"].(map[string]any)
	var sub string
	for _, field := range []struct {
		object issuer.Claims
		name   string
		into   *string
	}{
		{c, "sub", &sub}, {private, "namespace", &a.namespace},
		{object, "name", &a.name}, {object, "uid", &a.uid}, {pod, "name", &a.podName}, {pod, "uid", &a.podUID},
	} {
		var err error
		if *field.into, err = field.object.Text(field.name); err != nil {
			return err
		}
	}
	switch {
	case !service.IsServiceAccount(a.namespace + "/" + a.name):
		return errors.New("claims of kubernetes.io do not name a service account")
	case !isText(a.uid, maxUID):
		return errors.New("claims of kubernetes.io have no valid uid of the service account")
	case len(pod) > 0 && (!isText(a.podName, maxName) || !isText(a.podUID, maxUID)):
		return errors.New("claims of kubernetes.io have no valid name and uid of the pod")
	case sub != a.user():
		return fmt.Errorf("sub of the token is %q, want %q", provider.Printable(sub), a.user())
	}
	return nil
}

// isText reports whether the text can be a name or a uid of at most that many bytes.
func isText(text string, limit int) bool { return len(text) <= limit && issuer.IsName(text) }
