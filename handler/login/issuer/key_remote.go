package issuer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// KeyConfig configures [RemoteKeys]. All fields are required.
type KeyConfig struct {
	Client *provider.Client
	// URL returns where the keys are, such as the jwks_uri of a discovery document. It is
	// called for each fetch.
	URL        func(context.Context) (string, error)
	Algorithms []string // those that may be used
	Now        func() time.Time
}

// FixedKeyURL returns the function for [KeyConfig] if the URL is configured. It returns an
// error if the URL is neither https nor http on a loopback address.
func FixedKeyURL(url string) (func(context.Context) (string, error), error) {
	if err := provider.CheckURL(url, true); err != nil {
		return nil, fmt.Errorf("invalid URL of keys: %w", err)
	}
	return func(context.Context) (string, error) { return url, nil }, nil
}

// RemoteKeys returns the set of the keys that a provider publishes. They are fetched when
// they are first needed, and again as a [provider.Cached] value is. If no key fits a
// token, they are fetched at most every ten seconds.
func RemoteKeys(c KeyConfig) (*KeySet, error) {
	if c.Client == nil || c.URL == nil || c.Now == nil {
		return nil, errors.New("keyset: no client, no URL or no clock")
	}
	if err := CheckAlgorithms(c.Algorithms); err != nil {
		return nil, err
	}
	r := &remoteKeys{config: c}
	r.cached = provider.NewCached(r.fetch, c.Now)
	return &KeySet{source: r, algorithms: c.Algorithms}, nil
}

// remoteKeys is the source of published keys.
type remoteKeys struct {
	config KeyConfig
	cached *provider.Cached[*keys]
	last   *keys // of the fetch before; fetches do not overlap
}

func (r *remoteKeys) current(ctx context.Context) (*keys, uint64, error) {
	v, err := r.cached.Get(ctx)
	return v.Value, v.Number, r.explain(err)
}

func (r *remoteKeys) newer(ctx context.Context, than uint64) (*keys, error) {
	v, err := r.cached.Newer(ctx, than)
	return v.Value, r.explain(err)
}

func (r *remoteKeys) explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot get the keys of provider %q: %w", r.config.Client.Name(), err)
}

// fetch gets the keys, and counts their generations.
func (r *remoteKeys) fetch(ctx context.Context) (*keys, error) {
	url, err := r.config.URL(ctx)
	if err != nil {
		return nil, err
	}
	var d keyDocument
	if err := r.config.Client.Document(provider.WithKind(ctx, provider.KindKeys), url, &d); err != nil {
		return nil, err
	}
	fetched, err := d.parse()
	if err != nil {
		return nil, r.config.Client.Unavailable(err)
	}
	fetched.generation = 1
	if r.last != nil {
		fetched.generation = r.last.generation
		if !slices.EqualFunc(fetched.all, r.last.all, (*key).equal) {
			fetched.generation++
		}
	}
	r.last = fetched
	return fetched, nil
}
