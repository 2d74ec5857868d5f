package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// KeyConfig configures [RemoteKeys]. All fields are required, but only one of URL and Discovery.
type KeyConfig struct {
	Client     *provider.Client
	URL        string     // where the keys are
	Discovery  *Discovery // whose document says it, if URL is empty
	Algorithms []string   // those that may be used
	Now        func() time.Time
}

// RemoteKeys returns the set of the keys that a provider publishes. They are fetched when
// they are first needed, and again as a [provider.Cached] value is. If no key fits a
// token, they are fetched at most every ten seconds. It returns an error if the URL is
// neither https nor http on a loopback address.
func RemoteKeys(c KeyConfig) (*KeySet, error) {
	if c.Client == nil || c.URL == "" && c.Discovery == nil || c.Now == nil {
		return nil, errors.New("keyset: no client, no URL or no clock")
	}
	if c.URL != "" {
		if err := provider.CheckURL(c.URL, true); err != nil {
			return nil, fmt.Errorf("invalid URL of keys: %w", err)
		}
	}
	if err := CheckAlgorithms(c.Algorithms); err != nil {
		return nil, err
	}
	s := &KeySet{config: c}
	s.published = provider.NewCached(s.fetch, c.Now)
	return s, nil
}

// fetch gets the keys, and counts their generations.
func (s *KeySet) fetch(ctx context.Context) (*keys, error) {
	url := s.config.URL
	if url == "" {
		document, err := s.config.Discovery.Document(ctx)
		if err != nil {
			return nil, err
		}
		url = document.JWKSURI
	}
	var d keyDocument
	if err := s.config.Client.Document(provider.WithKind(ctx, provider.KindKeys), url, &d); err != nil {
		return nil, err
	}
	fetched, err := d.parse()
	if err != nil {
		return nil, s.config.Client.Unavailable(err)
	}
	fetched.generation = 1
	if s.last != nil {
		fetched.generation = s.last.generation
		if !slices.EqualFunc(fetched.all, s.last.all, (*key).equal) {
			fetched.generation++
		}
	}
	s.last = fetched
	return fetched, nil
}
