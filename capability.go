package guidon

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// A capability lets whoever shows it listen to the changes of one namespace, and
// nothing else: it stands in the place of a token where that would be seen, in a
// URL. It is signed with what all instances know of the token and nobody else
// does, the hash and the id, so that there is no key to configure; and it is void
// as soon as the token is.
//
// It names the token by a digest of the id. The id itself, which is random, stays
// out of it: a token that was badly chosen cannot be guessed from a capability.
const (
	handleSize    = 12
	expirySize    = 8
	signatureSize = 16
	// The purposes keep the two digests, and others like them, apart.
	handlePurpose     = "guidon: handle of an authentication\x00"
	capabilityPurpose = "guidon: capability to listen\x00"
)

// CapabilityWindow is how long the same capability is handed out; it is then good
// for as long once more, so that who was given it last has time to use it.
const CapabilityWindow = 6 * time.Hour

// CapabilityEnd returns until when a capability that is handed out now is good:
// always the same instant within a window.
func CapabilityEnd(now time.Time) time.Time {
	return now.Truncate(CapabilityWindow).Add(2 * CapabilityWindow)
}

// Signs tells whether capabilities can be made of the authentication: there is a
// token to make them void with.
func (a *Authentication) Signs() bool { return a.ID != "" && a.TokenHash != "" }

// Capability returns the capability to listen to the namespace until the instant,
// in whole seconds. The same arguments give the same text. It consists of letters,
// digits, "-" and "_".
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

// AuthenticateListener returns the authentication that the capability to listen to
// the namespace was made of, and until when the capability is good. It returns
// Unauthenticated when it is none, was not good any more at the instant, or the
// token behind it is not good now.
func (s *Service) AuthenticateListener(ctx context.Context, namespace, capability string, at time.Time) (*Authentication, time.Time, error) {
	raw, err := base64.RawURLEncoding.DecodeString(capability)
	if err != nil || len(raw) != handleSize+expirySize+signatureSize {
		return nil, time.Time{}, ErrUnauthenticated
	}
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	a := set.byHandle()[string(raw[:handleSize])]
	until := time.Unix(int64(binary.BigEndian.Uint64(raw[handleSize:])), 0) // #nosec G115 -- the bits are meant
	switch {
	case a == nil, a.Expired(s.now()):
	case !hmac.Equal(a.sign(NamespaceKey(namespace), until), raw[handleSize+expirySize:]), !at.Before(until):
	default:
		return a, until, nil
	}
	return nil, time.Time{}, ErrUnauthenticated
}

// indexByHandle returns the authentications by their handles.
func indexByHandle(all []*Authentication) map[string]*Authentication {
	index := make(map[string]*Authentication, len(all))
	for _, a := range all {
		if a.Signs() {
			index[string(a.handle())] = a
		}
	}
	return index
}
