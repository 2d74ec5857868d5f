package service

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// Metadata of the bootstrap token (contract 10.1).
const (
	bootstrapName        = "initial_bootstrap_token"
	bootstrapDescription = "Initial token created when bootstrapping authentication"
)

// TokenInput holds the arguments to create a static token.
type TokenInput struct {
	Name        string
	Description string
	Namespace   string            // if not empty, the token is limited to this namespace
	ExpiresAt   *time.Time        // nil means never
	Metadata    map[string]string // additional pairs, whose keys must not begin with that of the service's own
	Role        Role              // RoleUnset means the default role of static tokens, see [Policy]
	Namespaces  []string          // where the role holds: patterns of [Grant]; none means everywhere
}

// tokenHashLength is the length of the result of HashToken.
const tokenHashLength = (sha256.Size + 2) / 3 * 4

// HashToken returns the stored form of a client token: the padded URL-safe base64 of
// its SHA-256 (contract 10.1).
func HashToken(token string) string { return string(appendTokenHash(nil, token)) }

func appendTokenHash(b []byte, token string) []byte {
	var buf [128]byte // avoids an allocation for tokens of the usual length
	digest := sha256.Sum256(append(buf[:0], token...))
	return base64.URLEncoding.AppendEncode(b, digest[:])
}

// Authenticate returns the authentication of a client token, and the age of the tokens if
// they are stale as d allows. next is the namespace that will be read next, or "". It
// returns Unauthenticated if the token is unknown or has expired.
func (s *Service) Authenticate(ctx context.Context, d Demand, next, token string) (*Authentication, time.Duration, error) {
	set, age, err := s.store.Authentications(ctx, d, next)
	if err != nil {
		return nil, age, err
	}
	return s.valid(set, set.byToken(token), age)
}

// Reauthenticate returns the current state of an authentication that was returned
// earlier, with the arguments and the age of [Service.Authenticate]. It returns
// Unauthenticated if it no longer exists or has expired.
func (s *Service) Reauthenticate(
	ctx context.Context, d Demand, next string, earlier *Authentication,
) (*Authentication, time.Duration, error) {
	set, age, err := s.store.Authentications(ctx, d, next)
	if err != nil {
		return nil, age, err
	}
	if earlier.TokenHash == "" { // it was recognized
		a := s.policy.resolve(earlier, set)
		if a == nil || a.Expired(s.now().Add(-ClockSkew)) {
			return nil, age, ErrUnauthenticated
		}
		return a, age, nil
	}
	return s.valid(set, set.ByTokenHash(earlier.TokenHash), age)
}

// valid returns the authentication, which may be nil, with its access.
func (s *Service) valid(set *AuthenticationSet, a *Authentication, age time.Duration) (*Authentication, time.Duration, error) {
	if a != nil {
		a = s.resolve(set, a)
	}
	if a == nil || !a.ExpiresAt.IsZero() && a.Expired(s.now()) {
		return nil, age, ErrUnauthenticated
	}
	return a, age, nil
}

// ErrUnauthenticated is the error for all missing and invalid credentials. It is always
// the same, so that it reveals nothing about them (operations 1.1).
var ErrUnauthenticated = guidon.Errorf(guidon.Unauthenticated, "request was not authenticated")

// CreateToken creates a static token and returns it. Only its hash is stored, so the
// token cannot be retrieved later. The metadata names the actor of the write as its
// creator (operations 1.4).
func (s *Service) CreateToken(ctx context.Context, w Write, in TokenInput) (token string, created *Authentication, err error) {
	if err := requireAll(field{"name", in.Name}); err != nil {
		return "", nil, err
	}
	if in.Namespace != "" && !ValidNamespaceKey(in.Namespace) {
		return "", nil, invalidField("namespaceKey", "is not a namespace key")
	}
	if err := checkGranted(in.Namespaces); err != nil {
		return "", nil, err
	}
	if in.Namespace != "" && len(in.Namespaces) > 0 && !coversAny(in.Namespaces, in.Namespace) {
		return "", nil, invalidField("namespaceKeys", fmt.Sprintf("must include namespaceKey %q, which limits the token", in.Namespace))
	}
	for key := range in.Metadata {
		if strings.HasPrefix(key, metadataPrefix) {
			return "", nil, invalidField("metadata", fmt.Sprintf("keys must not begin with %q", metadataPrefix))
		}
	}
	token = newToken()
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		created = in.authentication(token, tx.Now(), w.By.Author())
		return tx.PutAuthentication(ctx, created)
	})
	if err != nil {
		return "", nil, err
	}
	if w.DryRun {
		token = "" // it is not stored
	}
	return token, created, nil
}

// authentication returns the record of the token.
func (in TokenInput) authentication(token string, now time.Time, by change.Actor) *Authentication {
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
		ExpiresAt: ExpiryAt(in.ExpiresAt), Metadata: metadata, Role: in.Role, Namespaces: slices.Clone(in.Namespaces),
		CreatedAt: now, UpdatedAt: now,
	}
}

// ExpiryAt returns the stored form of an expiry, in UTC and whole microseconds. For nil
// it returns the zero time, which means never. Any expiry before 1970, the zero time
// included, becomes 1970.
func ExpiryAt(at *time.Time) time.Time {
	switch {
	case at == nil:
		return time.Time{}
	case at.Unix() < 0:
		return time.Unix(0, 0).UTC()
	}
	return at.UTC().Truncate(time.Microsecond)
}

// AuthenticationFilter selects authentications. Zero fields do not restrict the selection.
type AuthenticationFilter struct {
	Method  Method
	Subject string
}

func (f AuthenticationFilter) excludes(a *Authentication) bool {
	return f.Method != MethodNone && a.Method != f.Method || f.Subject != "" && a.Subject != f.Subject
}

// ListAuthentications returns a page of the authentications that the filter selects, in
// creation order, and the token of the next page, which is empty on the last one. A limit
// of 0 means 25, and more than 100 means 100. It returns
// InvalidArgument if limit is negative (contract 6).
func (s *Service) ListAuthentications(
	ctx context.Context, d Demand, filter AuthenticationFilter, limit int32, pageToken string,
) ([]*Authentication, string, error) {
	set, _, err := s.store.Authentications(ctx, d, "")
	if err != nil {
		return nil, "", err
	}
	items := set.All()
	if filter != (AuthenticationFilter{}) {
		items = slices.DeleteFunc(slices.Clone(items), filter.excludes)
	}
	return paginateTokens(items, limit, pageToken)
}

// GetAuthentication returns the authentication with the id. It returns NotFound if it
// does not exist.
func (s *Service) GetAuthentication(ctx context.Context, d Demand, id string) (*Authentication, error) {
	set, _, err := s.store.Authentications(ctx, d, "")
	if err != nil {
		return nil, err
	}
	if a := set.ByID(id); a != nil {
		return a, nil
	}
	return nil, guidon.Errorf(guidon.NotFound, "getting authentication by token: reading authentication: resource not found")
}

// DeleteAuthentication deletes an authentication. It is not an error if it does not
// exist. It returns InvalidArgument if that is the caller's own and no one else is an
// administrator.
func (s *Service) DeleteAuthentication(ctx context.Context, w Write, id string) error {
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if err := s.keepAdmin(ctx, tx, w.By.Authentication, removal{token: id}); err != nil {
			return err
		}
		return tx.DeleteAuthentication(ctx, id)
	})
}

// ExpireSelf sets the expiry of the caller's own authentication; nil means now. If it
// expires already, the expiry cannot be extended: ExpireSelf returns InvalidArgument for
// a later time, and for one within a day if no one else is an administrator. It returns
// Unauthenticated if the caller has no stored authentication, or if that has expired.
func (s *Service) ExpireSelf(ctx context.Context, w Write, at *time.Time) error {
	self, err := w.stored()
	if err != nil {
		return err
	}
	return s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		a, err := tx.Authentication(ctx, self.ID)
		if errors.Is(err, guidon.NotFound) {
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
		if expiry.Before(now.Add(minAdminTime)) && !expiry.Equal(a.ExpiresAt) {
			if err := s.keepAdmin(ctx, tx, self, removal{token: a.ID}); err != nil {
				return err
			}
		}
		a.UpdatedAt, a.ExpiresAt = now, expiry
		return tx.PutAuthentication(ctx, a)
	})
}

// BootstrapInput describes the first token of a new installation.
type BootstrapInput struct {
	Token      string            // if empty, a random token is created
	Expiration time.Duration     // zero means never
	Metadata   map[string]string // additional pairs, as in TokenInput
}

// Bootstrap creates the first static token of a database (operations 1.5), an admin. It creates
// none if the database has, or ever had, any authentication, so that a deleted token
// stays deleted. If it creates a random token, it returns that, and the caller must show
// it to the operator. A configured token is never returned. Several processes may call
// Bootstrap concurrently: exactly one creates the token.
func (s *Service) Bootstrap(ctx context.Context, w Write, in BootstrapInput) (random string, created bool, err error) {
	token := in.Token
	if token == "" {
		token = newToken()
	}
	err = s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		if created = tx.First(); !created {
			return nil
		}
		record := TokenInput{Name: bootstrapName, Description: bootstrapDescription, Metadata: in.Metadata}
		if role := s.policy.Defaults[MethodToken]; role != RoleUnset && role != RoleAdmin {
			record.Role = RoleAdmin
		}
		if in.Expiration > 0 {
			expiry := tx.Now().Add(in.Expiration)
			record.ExpiresAt = &expiry
		}
		return tx.PutAuthentication(ctx, record.authentication(token, tx.Now(), w.By.Author()))
	})
	if err != nil {
		return "", false, err
	}
	if created && in.Token == "" {
		random = token
	}
	return random, created, nil
}

// A cleanup transaction deletes at most cleanupBatch authentications, so that it does
// not block other writers for long, and a run at most cleanupRun.
const (
	cleanupBatch = 500
	cleanupRun   = 100_000
)

// CleanupAuthentications deletes authentications of the method that expired more than
// grace ago, at most 100,000 of them, and returns how many (operations 1.12). It runs
// several transactions, so it may have deleted some if it returns an error. It can be
// interrupted and run again at any time.
func (s *Service) CleanupAuthentications(ctx context.Context, w Write, method Method, grace time.Duration) (int, error) {
	total := 0
	for total < cleanupRun {
		deleted := 0
		err := s.updateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
			expired, err := tx.Expired(ctx, method, tx.Now().Add(-grace), cleanupBatch)
			if err != nil {
				return err
			}
			deleted = len(expired)
			return deleteAll(ctx, tx, expired)
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
