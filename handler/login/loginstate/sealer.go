package loginstate

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
)

const (
	version = 1
	// plainSize is the size of an attempt without its return path.
	plainSize = 1 + 8 + 32 + sha256.Size
	// maxSkew is how far the clocks of two instances may differ.
	maxSkew = time.Minute
)

// kind is a kind of text that only this service can make and read.
type kind struct {
	name    string // in errors
	purpose string // of its key
	most    int    // bytes
	message string // of the error for one that is not accepted
}

var loginCookie = kind{
	"login cookie", "guidon: key of login cookies", 1 << 10, "this attempt to sign in is not valid; begin again",
}

// refuse returns the error for a text that is not accepted. Only logs contain why.
func (k kind) refuse(format string, args ...any) error {
	return &guidon.Error{Code: guidon.Unauthenticated, Message: k.message, Err: fmt.Errorf(format, args...)}
}

// Sealer seals attempts into cookies and opens them. All fields but Secure and HostPrefix are
// required. It is safe for concurrent use.
type Sealer struct {
	Keys     Keys
	Lifetime time.Duration // of an attempt
	Now      func() time.Time
	Path     string // below which the callbacks are
	Secure   bool   // browsers send the cookies over HTTPS only
	// HostPrefix adds __Host- to the names of cookies, so that pages of sibling domains
	// cannot plant one.
	HostPrefix bool
}

// seal returns the number of the newest key, and the content sealed with it for the name.
func (s *Sealer) seal(ctx context.Context, of kind, name string, plain []byte) (string, error) {
	k, err := s.Keys.Newest(ctx)
	if err != nil {
		return "", fmt.Errorf("cannot get the key of the %s: %w", of.name, err)
	}
	value := binary.BigEndian.AppendUint64(nil, uint64(k.Number))    // #nosec G115 -- the bits are meant
	value = k.aead(of.purpose).Seal(value, nil, plain, []byte(name)) // #nosec G407 -- the cipher makes the nonce
	return base64.RawURLEncoding.EncodeToString(value), nil
}

// open returns the content that was sealed for the name.
func (s *Sealer) open(ctx context.Context, of kind, name, value string) ([]byte, error) {
	if len(value) > of.most {
		return nil, of.refuse("%s of %d bytes; at most %d are allowed", of.name, len(value), of.most)
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(value)
	if err != nil || len(raw) < 8 || strings.ContainsAny(value, "\r\n") { // which the decoder ignores
		return nil, of.refuse("%s is malformed", of.name)
	}
	k, found, err := s.Keys.Numbered(ctx, int64(binary.BigEndian.Uint64(raw))) // #nosec G115 -- the bits are meant
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot get the key of the %s: %w", of.name, err)
	case !found:
		return nil, of.refuse("%s has an unknown key", of.name)
	}
	plain, err := k.aead(of.purpose).Open(nil, nil, raw[8:], []byte(name))
	if err != nil {
		return nil, of.refuse("%s was not sealed by this service, or for another name", of.name)
	}
	return plain, nil
}

// sealAttempt returns the value of the cookie: version, time, secret, fingerprint and return
// path, sealed for the name of the cookie.
func (s *Sealer) sealAttempt(ctx context.Context, a *Attempt) (string, error) {
	plain := make([]byte, 0, plainSize+len(a.ReturnTo))
	plain = append(plain, version)
	plain = binary.BigEndian.AppendUint64(plain, uint64(a.Begun.Unix())) // #nosec G115 -- the bits are meant
	plain = append(plain, a.secret[:]...)
	plain = append(plain, a.Fingerprint[:]...)
	plain = append(plain, a.ReturnTo...)
	return s.seal(ctx, loginCookie, s.Name(a.State()), plain)
}

// openAttempt returns the attempt that was sealed into the cookie. It does not check to which
// provider and state it belongs.
func (s *Sealer) openAttempt(ctx context.Context, name, value string) (*Attempt, error) {
	plain, err := s.open(ctx, loginCookie, name, value)
	if err != nil {
		return nil, err
	}
	a, err := unmarshal(plain)
	if err != nil {
		return nil, loginCookie.refuse("login cookie: %w", err)
	}
	if age := s.Now().Sub(a.Begun); age >= s.Lifetime || age < -maxSkew {
		return nil, loginCookie.refuse("login cookie is %v old; must be younger than %v", clock.Text(age), clock.Text(s.Lifetime))
	}
	return a, nil
}

// unmarshal decodes a sealed attempt. The return path is checked again: the rules may
// have become stricter since.
func unmarshal(plain []byte) (*Attempt, error) {
	if len(plain) < plainSize || plain[0] != version {
		return nil, errors.New("unknown version")
	}
	a := &Attempt{
		Begun:    time.Unix(int64(binary.BigEndian.Uint64(plain[1:])), 0), // #nosec G115 -- the bits are meant
		ReturnTo: string(plain[plainSize:]),
	}
	copy(a.secret[:], plain[9:])
	copy(a.Fingerprint[:], plain[9+len(a.secret):])
	return a, CheckReturnTo(a.ReturnTo)
}

// aead returns the cipher for a purpose, whose key is derived for it: the
// secret has others. It chooses a random nonce for each cookie and puts it first.
func (k Key) aead(purpose string) cipher.AEAD {
	block, err := aes.NewCipher(expand(k.Secret, purpose))
	if err != nil { // only for keys of another length
		panic(fmt.Sprintf("loginstate: %v", err))
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(fmt.Sprintf("loginstate: %v", err))
	}
	return aead
}

// Key is a random secret that all instances find in the database.
type Key struct {
	Number int64
	Secret [32]byte
}

// Keys provides the keys that seal cookies. It is safe for concurrent use. Its errors are
// returned to the callers of this package.
type Keys interface {
	// Newest returns the key that seals. It makes one if there is none, or if the newest is
	// too old.
	Newest(ctx context.Context) (Key, error)
	// Numbered returns the key with that number, and false if there is none. The number is
	// the client's, so the implementation must limit how often it looks for unknown ones.
	Numbered(ctx context.Context, number int64) (Key, bool, error)
}
