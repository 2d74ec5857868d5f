package kubernetes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/claimset"
	"github.com/guidonhq/guidon/handler/login/keyset"
	"github.com/guidonhq/guidon/handler/login/provider"
)

const (
	maxToken = 16 << 10 // bytes
	maxName  = 253      // characters of the name of an object
	maxUID   = 128      // characters; they are UUIDs so far
)

// account is what a token says about a service account. It is not verified.
type account struct {
	namespace, name, uid string
	podName, podUID      string // "" for a token without a pod
	issuer               string
	audiences            []string
	expires              time.Time
	notBefore, issuedAt  time.Time // zero for none
}

// user returns the name of the account as a user.
func (a *account) user() string { return userPrefix + a.namespace + ":" + a.name }

// parseAccount returns what the token says. It returns an error if the token is not one of
// a service account, or has expired. So the API server is not asked about anything else.
func parseAccount(raw string, now time.Time) (*account, error) {
	claims, err := parseClaims(raw)
	if err != nil {
		return nil, err
	}
	a := new(account)
	if err := a.setTimes(claims, now); err != nil {
		return nil, err
	}
	if a.issuer, err = claims.String("iss"); err != nil {
		return nil, err
	}
	if a.audiences, err = claims.Audiences(); err != nil {
		return nil, err
	}
	return a, a.setObjects(claims)
}

// parseClaims returns the claims of a token without verifying it.
func parseClaims(raw string) (claimset.Set, error) {
	if len(raw) > maxToken {
		return nil, fmt.Errorf("token of %d bytes; at most %d are allowed", len(raw), maxToken)
	}
	kind, err := keyset.Type(raw)
	if err != nil {
		return nil, err
	}
	if kind != "" && !strings.EqualFold(kind, "JWT") {
		return nil, fmt.Errorf("typ of the token is %q; must be JWT or absent", provider.Printable(kind))
	}
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(raw, ".")[1])
	if err != nil {
		return nil, err
	}
	return claimset.Parse(payload)
}

func (a *account) setTimes(c claimset.Set, now time.Time) error {
	var errs [3]error
	a.expires, errs[0] = c.Time("exp")
	a.notBefore, errs[1] = c.Time("nbf")
	a.issuedAt, errs[2] = c.Time("iat")
	if err := errors.Join(errs[:]...); err != nil {
		return err
	}
	switch {
	case a.expires.IsZero():
		return errors.New("token does not expire; only tokens with exp are accepted")
	case !a.expires.After(now):
		return fmt.Errorf("token expired at %s", a.expires.Format(time.RFC3339))
	}
	return nil
}

const userPrefix = "system:serviceaccount:"

// The form of names in Kubernetes (RFC 1123).
var (
	namespacePattern = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	namePattern      = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// setObjects sets the account and the pod. The claim sub and the private claims of
// Kubernetes must name the same account.
func (a *account) setObjects(c claimset.Set) error {
	private, ok := c.Object("kubernetes.io")
	if !ok {
		return errors.New("token has no claims of kubernetes.io")
	}
	object, _ := private.Object("serviceaccount")
	pod, _ := private.Object("pod")
	var sub string
	for _, field := range []struct {
		set  claimset.Set
		name string
		into *string
	}{
		{c, "sub", &sub}, {private, "namespace", &a.namespace},
		{object, "name", &a.name}, {object, "uid", &a.uid}, {pod, "name", &a.podName}, {pod, "uid", &a.podUID},
	} {
		var err error
		if *field.into, err = field.set.String(field.name); err != nil {
			return err
		}
	}
	switch {
	case !namespacePattern.MatchString(a.namespace), len(a.name) > maxName, !namePattern.MatchString(a.name):
		return errors.New("claims of kubernetes.io do not name a service account")
	case !claimset.Plain(a.uid, maxUID):
		return errors.New("claims of kubernetes.io have no valid uid of the service account")
	case len(pod) > 0 && (!claimset.Plain(a.podName, maxName) || !claimset.Plain(a.podUID, maxUID)):
		return errors.New("claims of kubernetes.io have no valid name and uid of the pod")
	case sub != a.user():
		return fmt.Errorf("sub of the token is %q, want %q", provider.Printable(sub), a.user())
	}
	return nil
}
