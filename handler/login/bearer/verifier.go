package bearer

import (
	"context"
	"crypto/sha256"
	"sync"
	"time"

	"github.com/guidonhq/guidon/handler/login/issuer"
	"github.com/guidonhq/guidon/service"
)

const (
	maxToken = 16 << 10 // bytes
	// defaultLifetime is that of a token without exp.
	defaultLifetime = 150 * time.Second
)

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	config        Config
	keys          *issuer.KeySet
	groups, roles issuer.ClaimPath // "" for none
	memory        *memory
}

// Verify verifies the token and returns whom it identifies; the identity must not be
// modified. It expires when the token does: at exp or, without one, 150 seconds after iat
// or else nbf. Clocks may differ, so a token is accepted for 60 seconds more.
//
// The error of a token that is not accepted is Unauthenticated, and the same for clients
// whatever the reason. It is Unavailable if the keys cannot be fetched, or that of ctx.
func (v *Verifier) Verify(ctx context.Context, raw string) (*service.Identity, error) {
	if identity, ok := v.Remembered(ctx, raw); ok {
		return identity, nil
	}
	c, generation, err := v.keys.Verify(ctx, raw, maxToken, "JWT", "application/jwt", "at+jwt", "application/at+jwt")
	if err != nil {
		return nil, err
	}
	by, err := v.issuer(ctx)
	if err != nil {
		return nil, err
	}
	identity, err := v.accept(c, by)
	if err != nil {
		return nil, issuer.Refused(err)
	}
	v.memory.put(raw, generation, identity, v.config.Now())
	return identity, nil
}

// Remembered returns the identity of a token that [Verifier.Verify] has accepted before,
// and whether there is one: the token has not expired, and the keys have not changed. It
// fetches the keys if that is due, but never for a token that was not accepted before.
func (v *Verifier) Remembered(ctx context.Context, raw string) (*service.Identity, bool) {
	if len(raw) > maxToken {
		return nil, false
	}
	digest := digestOf(raw)
	if !v.memory.has(digest) {
		return nil, false
	}
	generation, err := v.keys.Generation(ctx)
	if err != nil {
		return nil, false
	}
	identity := v.memory.get(digest, generation, v.config.Now())
	return identity, identity != nil
}

// issuer returns the required value of iss, or "" for any.
func (v *Verifier) issuer(ctx context.Context) (string, error) {
	if v.config.Issuer != "" || v.config.DiscoveryURL == "" {
		return v.config.Issuer, nil
	}
	document, err := v.keys.Document(ctx)
	if err != nil {
		return "", err
	}
	return document.Issuer, nil
}

// buffers holds copies of tokens for their digests: a conversion would allocate one.
var buffers = sync.Pool{New: func() any { return new([maxToken]byte) }}

// digestOf returns the SHA-256 of the token, which has at most maxToken bytes.
func digestOf(raw string) [sha256.Size]byte {
	b := buffers.Get().(*[maxToken]byte)
	defer buffers.Put(b)
	return sha256.Sum256(b[:copy(b[:], raw)])
}

// Check is [issuer.KeySet.Check].
func (v *Verifier) Check(ctx context.Context) (urls []string, err error) { return v.keys.Check(ctx) }
