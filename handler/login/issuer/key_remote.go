package issuer

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// Config configures [Remote]. Client, Algorithms, Now and a URL are required. The URLs must be such as
// [provider.CheckBaseURL] accepts, and the algorithms such as [CheckAlgorithms] does.
type Config struct {
	Client *provider.Client
	// Issuer is the exact issuer that the discovery document must have. If it is empty, the
	// document may have any, as that of a Kubernetes API server.
	Issuer string
	// DiscoveryURL is where the document is: below it, at the well-known path. It is the issuer if
	// it is empty.
	DiscoveryURL string
	// KeysURL is where the keys are. If it is empty, the document says it.
	KeysURL string
	// KeysOnly is for documents of which only issuer and jwks_uri are used. The others
	// are then not checked.
	KeysOnly   bool
	Algorithms []string // those that may be used
	Now        func() time.Time
}

// base returns the URL below which the document is.
func (c Config) base() string { return cmp.Or(c.DiscoveryURL, c.Issuer) }

// Remote returns the set of the keys that a provider publishes. They are fetched when
// they are first needed, and again as a [provider.Cached] value is; so is the discovery document. If no
// key fits a token, they are fetched at most every ten seconds.
func Remote(c Config) *KeySet {
	s := &KeySet{config: c}
	s.published = provider.NewCached(s.fetch, c.Now)
	if c.DiscoveryURL != "" || c.KeysURL == "" {
		s.document = provider.NewCached(c.discover, c.Now)
	}
	return s
}

// Check gets the document and the keys. It returns the URLs that this service must be able to
// reach: none if the keys are in a file. With an error they are those that are known.
func (s *KeySet) Check(ctx context.Context) (urls []string, err error) {
	keysURL := s.config.KeysURL
	if s.document != nil {
		urls = append(urls, s.config.base())
		d, err := s.Document(ctx)
		if err != nil {
			return urls, err
		}
		keysURL = cmp.Or(keysURL, d.JWKSURI)
	}
	if keysURL != "" {
		urls = append(urls, keysURL)
	}
	_, err = s.Generation(ctx)
	return urls, err
}

// fetch gets the keys, and counts their generations.
func (s *KeySet) fetch(ctx context.Context) (*keys, error) {
	url := s.config.KeysURL
	if url == "" {
		document, err := s.Document(ctx)
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
