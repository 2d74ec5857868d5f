package service

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"

	"github.com/guidonhq/guidon"
)

// A capability allows its bearer to listen to the changes of one namespace, and
// nothing else. It replaces the token in URLs, where a token would be exposed. It is
// signed with the hash and the id of the token, which only the instances know. So
// there is no key to configure, and it becomes invalid together with the token.
//
// It identifies the token by a digest of the id. The id itself, which is random, is
// not included: a weak token cannot be guessed from a capability.
const (
	handleSize    = 12
	expirySize    = 8
	signatureSize = 16
	// The purposes ensure that the two digests cannot be mistaken for each other.
	handlePurpose     = "guidon: handle of an authentication\x00"
	capabilityPurpose = "guidon: capability to listen\x00"
)

// CapabilityWindow is how long the same capability is issued. After that it stays
// valid for another window, so that the last one issued can still be used.
const CapabilityWindow = 6 * time.Hour

// CapabilityEnd returns the expiry of a capability issued at now, which is the same
// instant throughout a window.
func CapabilityEnd(now time.Time) time.Time {
	return now.Truncate(CapabilityWindow).Add(2 * CapabilityWindow)
}

// Signs reports whether capabilities can be signed with the authentication, that is,
// whether it belongs to a token whose deletion makes them invalid.
func (a *Authentication) Signs() bool { return a.ID != "" && a.TokenHash != "" }

// Capability returns the capability to listen to the namespace, which expires at
// until, truncated to seconds. The same arguments give the same string of letters,
// digits, "-" and "_". The authentication must be one that [Authentication.Signs].
func (a *Authentication) Capability(namespace string, until time.Time) string {
	b := a.handle()
	b = binary.BigEndian.AppendUint64(b, uint64(until.Unix())) // #nosec G115 -- the bits are meant
	return base64.RawURLEncoding.EncodeToString(append(b, a.sign(namespace, until)...))
}

func (a *Authentication) handle() []byte {
	digest := sha256.Sum256([]byte(handlePurpose + a.ID))
	return digest[:handleSize:handleSize]
}

func (a *Authentication) sign(namespace string, until time.Time) []byte {
	mac := hmac.New(sha256.New, []byte(a.TokenHash))
	b := append([]byte(capabilityPurpose), a.ID...)
	b = binary.BigEndian.AppendUint64(append(b, 0), uint64(until.Unix())) // #nosec G115 -- the bits are meant
	mac.Write(append(b, namespace...))
	return mac.Sum(nil)[:signatureSize]
}

// AuthenticateListener returns the authentication that signed the capability to
// listen to the namespace, its age if the tokens are stale as d allows, and the expiry of
// the capability. It returns
// Unauthenticated if the capability is malformed, forged or was expired at the given
// time, or if its token has been deleted or has expired by now.
func (s *Service) AuthenticateListener(
	ctx context.Context, d Demand, namespace, capability string, at time.Time,
) (*Authentication, time.Duration, time.Time, error) {
	raw, err := base64.RawURLEncoding.DecodeString(capability)
	if err != nil || len(raw) != handleSize+expirySize+signatureSize {
		return nil, 0, time.Time{}, ErrUnauthenticated
	}
	namespace = guidon.NamespaceKey(namespace)
	set, age, err := s.store.Authentications(ctx, d, namespace)
	if err != nil {
		return nil, 0, time.Time{}, err
	}
	a := set.byCapability(raw[:handleSize])
	until := time.Unix(int64(binary.BigEndian.Uint64(raw[handleSize:])), 0) // #nosec G115 -- the bits are meant
	switch {
	case a == nil, a.Expired(s.now()):
	case !hmac.Equal(a.sign(namespace, until), raw[handleSize+expirySize:]), !at.Before(until):
	default:
		if a, age, err = s.valid(set, a, age); err == nil {
			return a, age, until, nil
		}
	}
	return nil, 0, time.Time{}, ErrUnauthenticated
}
