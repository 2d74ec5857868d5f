package issuer

import (
	"context"
	"fmt"
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
// each use.
func (s *KeySet) Generation(ctx context.Context) (uint64, error) {
	v, err := s.current(ctx)
	if err != nil {
		return 0, err
	}
	return v.Value.generation, nil
}

// candidates returns the keys that the token may be signed with, at least one, and their generation. If
// it names its key, they are those of that id; otherwise the one whose signature it has.
// Newer keys are fetched if there is none.
func (s *KeySet) candidates(ctx context.Context, t *jwt.Token) (found jwt.VerificationKeySet, generation uint64, err error) {
	v, err := s.current(ctx)
	if err != nil {
		return found, 0, err
	}
	found.Keys = s.match(v.Value, t)
	if len(found.Keys) == 0 && s.fixed == nil {
		if v, err = s.published.Newer(ctx, v.Number); err != nil {
			return found, 0, s.explain(err)
		}
		found.Keys = s.match(v.Value, t)
	}
	if len(found.Keys) == 0 {
		return found, 0, invalid("%s", noKey(v.Value, t))
	}
	return found, v.Value.generation, nil
}

// match returns the keys for the algorithm of the token that have its id or, if it has none, its signature.
func (s *KeySet) match(k *keys, t *jwt.Token) (found []jwt.VerificationKey) {
	id := idOf(t)
	for _, key := range k.all {
		if !key.fits(t.Method.Alg()) {
			continue
		}
		if s.fixed != nil || id != "" && key.id == id ||
			id == "" && t.Method.Verify(t.Raw[:strings.LastIndexByte(t.Raw, '.')], t.Signature, key.public) == nil {
			found = append(found, key.public)
		}
	}
	return found
}

// idOf returns the id of the token's key, or "" if it does not name it.
func idOf(t *jwt.Token) string {
	id, _ := t.Header["kid"].(string)
	return id
}

// noKey describes why no key fits the token.
func noKey(k *keys, t *jwt.Token) string {
	text := fmt.Sprintf("no key for algorithm %s", t.Method.Alg())
	if id := idOf(t); id != "" {
		text += fmt.Sprintf(" with the id %q", provider.Printable(id))
	}
	text += fmt.Sprintf(" among %d", len(k.all))
	if len(k.skipped) > 0 {
		text += fmt.Sprintf("; %d skipped (%s)", len(k.skipped), provider.Printable(strings.Join(k.skipped, "; ")))
	}
	return text
}
