package guidon

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"time"
)

// tokenPrefix makes a token of this service recognisable in a log or a
// repository, to people and to secret scanners.
const tokenPrefix = "gdn_"

// The metadata of the bootstrap token (contract 10.1).
const (
	bootstrapName        = "initial_bootstrap_token"
	bootstrapDescription = "Initial token created when bootstrapping authentication"
)

// TokenInput is what a caller says of a static token.
type TokenInput struct {
	Name        string
	Description string
	Namespace   string            // limits the token to one namespace, where not empty
	ExpiresAt   *time.Time        // nil is never
	Metadata    map[string]string // further pairs
}

// tokenHashLength is the length of what HashToken returns.
const tokenHashLength = (sha256.Size + 2) / 3 * 4

// HashToken returns the form of a client token that is stored: URL-safe base64
// of its SHA-256 (contract 10.1).
func HashToken(token string) string { return string(appendTokenHash(nil, token)) }

func appendTokenHash(b []byte, token string) []byte {
	var room [128]byte // so that the usual token costs no memory
	digest := sha256.Sum256(append(room[:0], token...))
	return base64.URLEncoding.AppendEncode(b, digest[:])
}

// newToken returns a random client token of 256 bits.
func newToken() string {
	var raw [32]byte
	_, _ = rand.Read(raw[:]) // never fails: crypto/rand ends the process instead
	return tokenPrefix + base64.URLEncoding.EncodeToString(raw[:])
}

// Authenticate returns the authentication of a client token. It returns
// Unauthenticated when the token is unknown or has expired.
func (s *Service) Authenticate(ctx context.Context, token string) (*Authentication, error) {
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return nil, err
	}
	a := set.byToken(token)
	if a == nil || !a.ExpiresAt.IsZero() && a.Expired(s.now()) {
		return nil, ErrUnauthenticated
	}
	return a, nil
}

// Reauthenticate returns the current form of an authentication that an earlier state
// had. It returns Unauthenticated when it no longer exists or has expired.
func (s *Service) Reauthenticate(ctx context.Context, earlier *Authentication) (*Authentication, error) {
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return nil, err
	}
	a := set.ByTokenHash(earlier.TokenHash)
	if a == nil || a.Expired(s.now()) {
		return nil, ErrUnauthenticated
	}
	return a, nil
}

// ErrUnauthenticated is the one answer to every kind of missing or bad
// credential, so that nothing can be learned from it (operations 1.1).
var ErrUnauthenticated = Errorf(Unauthenticated, "request was not authenticated")

// CreateToken creates a static token and returns it; it cannot be had again.
func (s *Service) CreateToken(ctx context.Context, in TokenInput) (token string, created *Authentication, err error) {
	if err := requireAll(field{"name", in.Name}); err != nil {
		return "", nil, err
	}
	if in.Namespace != "" && (!keyPattern.MatchString(in.Namespace) || checkLength("namespaceKey", in.Namespace) != nil) {
		return "", nil, invalidField("namespaceKey", "is not a namespace key")
	}
	token = newToken()
	err = s.store.UpdateAuthentications(ctx, func(ctx context.Context, tx AuthenticationTx) error {
		created = in.authentication(token, tx.Now(), CallFrom(ctx).Actor)
		return tx.PutAuthentication(ctx, created)
	})
	if err != nil {
		return "", nil, err
	}
	return token, created, nil
}

// authentication returns the record of the token.
func (in TokenInput) authentication(token string, now time.Time, by Actor) *Authentication {
	metadata := maps.Clone(in.Metadata)
	if metadata == nil {
		metadata = make(map[string]string, 4)
	}
	metadata[MetadataTokenName] = in.Name
	metadata[MetadataTokenCreatedBy] = by.ID
	if in.Description != "" {
		metadata[MetadataTokenDescription] = in.Description
	}
	if in.Namespace != "" {
		metadata[MetadataTokenNamespace] = in.Namespace
	}
	return &Authentication{
		ID: NewID(), Method: MethodToken, TokenHash: HashToken(token),
		ExpiresAt: ExpiryAt(in.ExpiresAt), Metadata: metadata,
		CreatedAt: now, UpdatedAt: now,
	}
}

// ExpiryAt returns the stored form of an expiry: UTC and whole microseconds, or
// the zero time, which is never, for nil. The zero time itself is an expiry long
// past, like any other before 1970; 1970 is stored for it.
func ExpiryAt(at *time.Time) time.Time {
	switch {
	case at == nil:
		return time.Time{}
	case at.Unix() < 0:
		return time.Unix(0, 0).UTC()
	}
	return at.UTC().Truncate(time.Microsecond)
}

// ListAuthentications returns a page of the authentications of the method, or
// of all for MethodNone, in creation order, and the token of the next page.
func (s *Service) ListAuthentications(ctx context.Context, method Method, limit int32, pageToken string) ([]*Authentication, string, error) {
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return nil, "", err
	}
	items := set.All()
	if method != MethodNone {
		items = slices.DeleteFunc(slices.Clone(items), func(a *Authentication) bool { return a.Method != method })
	}
	return paginateTokens(items, limit, pageToken)
}

// GetAuthentication returns the authentication with the id, or NotFound.
func (s *Service) GetAuthentication(ctx context.Context, id string) (*Authentication, error) {
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return nil, err
	}
	if a := set.ByID(id); a != nil {
		return a, nil
	}
	return nil, Errorf(NotFound, "getting authentication by token: reading authentication: resource not found")
}

// DeleteAuthentication removes an authentication. One that does not exist is no
// error.
func (s *Service) DeleteAuthentication(ctx context.Context, id string) error {
	return s.store.UpdateAuthentications(ctx, func(ctx context.Context, tx AuthenticationTx) error {
		return tx.DeleteAuthentication(ctx, id)
	})
}

// ExpireSelf sets the expiry of the caller's own authentication; nil means now. A
// credential that expires cannot prolong its own life: ExpireSelf returns
// InvalidArgument for a time after its expiry. It returns Unauthenticated if the
// call has no stored authentication.
func (s *Service) ExpireSelf(ctx context.Context, at *time.Time) error {
	self := CallFrom(ctx).Authentication
	if self == nil || self.ID == "" {
		return ErrUnauthenticated
	}
	return s.store.UpdateAuthentications(ctx, func(ctx context.Context, tx AuthenticationTx) error {
		a, err := tx.Authentication(ctx, self.ID)
		if errors.Is(err, NotFound) {
			return ErrUnauthenticated
		}
		if err != nil {
			return err
		}
		now := tx.Now()
		if a.Expired(now) {
			return ErrUnauthenticated
		}
		expiry := ExpiryAt(at)
		if at == nil {
			expiry = now
		}
		if !a.ExpiresAt.IsZero() && expiry.After(a.ExpiresAt) {
			return invalidField("expiresAt", "must not be later than the expiry of the token itself")
		}
		a.UpdatedAt, a.ExpiresAt = now, expiry
		return tx.PutAuthentication(ctx, a)
	})
}

// BootstrapInput describes the first token of a new installation.
type BootstrapInput struct {
	Token      string        // empty makes a random one
	Expiration time.Duration // zero is never
	Metadata   map[string]string
}

// Bootstrap creates the first static token of a database, once: it creates none
// if the database has, or ever had, any authentication, so that a token that was
// deleted stays deleted. It returns the token if it made a random one, which must
// then be shown to the operator; a configured secret is never returned. Any number
// of processes may call it at the same time: one of them creates the token.
func (s *Service) Bootstrap(ctx context.Context, in BootstrapInput) (random string, created bool, err error) {
	token := in.Token
	if token == "" {
		token = newToken()
	}
	err = s.store.UpdateAuthentications(ctx, func(ctx context.Context, tx AuthenticationTx) error {
		if created = tx.First(); !created {
			return nil
		}
		record := TokenInput{Name: bootstrapName, Description: bootstrapDescription, Metadata: in.Metadata}
		if in.Expiration > 0 {
			expiry := tx.Now().Add(in.Expiration)
			record.ExpiresAt = &expiry
		}
		return tx.PutAuthentication(ctx, record.authentication(token, tx.Now(), CallFrom(ctx).Actor))
	})
	if err != nil {
		return "", false, err
	}
	if created && in.Token == "" {
		random = token
	}
	return random, created, nil
}

// HasUnlimitedToken reports whether a valid static token exists that is not limited
// to a namespace.
func (s *Service) HasUnlimitedToken(ctx context.Context) (bool, error) {
	set, err := s.store.Authentications(ctx)
	if err != nil {
		return false, err
	}
	now := s.now()
	return slices.ContainsFunc(set.All(), func(a *Authentication) bool {
		_, limited := a.Scope()
		return a.Method == MethodToken && !limited && !a.Expired(now)
	}), nil
}

// Bounds of one cleanup: a transaction deletes at most cleanupBatch records, so
// that it never holds others up, and a run at most cleanupRun.
const (
	cleanupBatch = 500
	cleanupRun   = 100_000
)

// CleanupAuthentications deletes the authentications of the method that expired
// longer than grace ago, and returns how many. It may be interrupted and run
// again at any time.
func (s *Service) CleanupAuthentications(ctx context.Context, method Method, grace time.Duration) (int, error) {
	total := 0
	for total < cleanupRun {
		deleted := 0
		err := s.store.UpdateAuthentications(ctx, func(ctx context.Context, tx AuthenticationTx) error {
			expired, err := tx.Expired(ctx, method, tx.Now().Add(-grace), cleanupBatch)
			if err != nil {
				return err
			}
			for _, a := range expired {
				if err := tx.DeleteAuthentication(ctx, a.ID); err != nil {
					return err
				}
			}
			deleted = len(expired)
			return nil
		})
		if err != nil {
			return total, err
		}
		total += deleted
		if deleted < cleanupBatch {
			break
		}
	}
	return total, nil
}
