package issuer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// KeySet is a set of public keys that verify tokens, with the discovery document of their issuer if
// there is one. It is safe for concurrent use. A token
// that it does not accept is Unauthenticated; if the keys cannot be fetched, the error
// is Unavailable.
type KeySet struct {
	config    Config
	fixed     *keys                       // those of a file, whose ids are ignored, or nil
	published *provider.Cached[*keys]     // otherwise
	last      *keys                       // of the fetch before; fetches do not overlap
	document  *provider.Cached[*Document] // nil if there is none
}

// Algorithms returns the algorithms that may be used.
func (s *KeySet) Algorithms() []string { return slices.Clone(s.config.Algorithms) }

// current returns the keys and their version.
func (s *KeySet) current(ctx context.Context) (provider.Version[*keys], error) {
	if s.fixed != nil {
		return provider.Version[*keys]{Value: s.fixed}, nil
	}
	v, err := s.published.Get(ctx)
	return v, s.explain(err)
}

func (s *KeySet) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot get the keys of provider %q: %w", s.config.Client.Name(), err)
}

// Generation returns a number that grows whenever the keys change. It fetches the keys if
// that is due. A caller that remembers verified tokens must compare the generation at
// each use, and must remember a token under the generation before its verification: the
// keys may change during it.
func (s *KeySet) Generation(ctx context.Context) (uint64, error) {
	v, err := s.current(ctx)
	if err != nil {
		return 0, err
	}
	return v.Value.generation, nil
}

// VerifySignature verifies the signature of the token and returns its payload.
func (s *KeySet) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	t, err := parseToken(raw, MaxToken)
	if err != nil {
		return nil, err
	}
	found, err := s.candidates(ctx, t)
	if err != nil {
		return nil, err
	}
	if t.verifying(found) == nil {
		return nil, invalid("signature of the token does not match the key")
	}
	return t.payload, nil
}

// candidates returns the keys that the token may be signed with, at least one. If it
// names its key, they are those of that id; otherwise the one whose signature it has.
// Newer keys are fetched if there is none.
func (s *KeySet) candidates(ctx context.Context, t *token) ([]*key, error) {
	if !slices.Contains(s.config.Algorithms, t.algorithm) {
		return nil, invalid("algorithm of the token is %q; must be one of %s",
			provider.Printable(t.algorithm), strings.Join(s.config.Algorithms, ", "))
	}
	v, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	found := s.match(v.Value, t)
	if len(found) == 0 && s.fixed == nil {
		if v, err = s.published.Newer(ctx, v.Number); err != nil {
			return nil, s.explain(err)
		}
		found = s.match(v.Value, t)
	}
	if len(found) == 0 {
		return nil, invalid("%s", noKey(v.Value, t))
	}
	return found, nil
}

func (s *KeySet) match(k *keys, t *token) []*key {
	anyID := s.fixed != nil
	found := k.fitting(t.algorithm, t.keyID, anyID || t.keyID == "")
	if anyID || t.keyID != "" {
		return found
	}
	if one := t.verifying(found); one != nil {
		return []*key{one}
	}
	return nil
}

// verifying returns the key among the given ones that the token is signed with, or nil
// if there is none.
func (t *token) verifying(found []*key) *key {
	method := jwt.GetSigningMethod(t.algorithm) // one of those that may be used
	for _, k := range found {
		if method.Verify(t.signed, t.signature, k.public) == nil {
			return k
		}
	}
	return nil
}

// noKey describes why no key fits the token.
func noKey(k *keys, t *token) string {
	text := fmt.Sprintf("no key for algorithm %s", t.algorithm)
	if t.keyID != "" {
		text += fmt.Sprintf(" with the id %q", provider.Printable(t.keyID))
	}
	text += fmt.Sprintf(" among %d", len(k.all))
	if len(k.skipped) > 0 {
		text += fmt.Sprintf("; %d skipped (%s)", len(k.skipped), provider.Printable(strings.Join(k.skipped, "; ")))
	}
	return text
}
