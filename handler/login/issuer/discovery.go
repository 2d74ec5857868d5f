package issuer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon/handler/login/provider"
)

const wellKnown = "/.well-known/openid-configuration"

// DiscoveryConfig configures [Discovery]. Client, Now, and Issuer or URL are required.
type DiscoveryConfig struct {
	Client *provider.Client
	// Issuer is the exact issuer that the document must have. If it is empty, the
	// document may have any, as that of a Kubernetes API server.
	Issuer string
	// URL is where the document is: below it, at the well-known path. It is the issuer if
	// it is empty.
	URL string
	// KeysOnly is for documents of which only issuer and jwks_uri are used. The others
	// are then not checked.
	KeysOnly bool
	Now      func() time.Time
}

// base returns the URL below which the document is.
func (c DiscoveryConfig) base() string {
	return cmp.Or(c.URL, c.Issuer)
}

// Discovery gets the discovery document of one provider when it is first needed, and keeps
// it as a [provider.Cached] value. It is safe for concurrent use.
type Discovery struct{ document *provider.Cached[*Document] }

// NewDiscovery returns a Discovery, and an error if the URL is neither https nor http on a loopback
// address. It sends no request.
func NewDiscovery(c DiscoveryConfig) (*Discovery, error) {
	if c.Client == nil || c.Now == nil {
		return nil, errors.New("discovery: no client or no clock")
	}
	if err := provider.CheckURL(c.base(), true); err != nil {
		return nil, fmt.Errorf("invalid URL of provider %q: %w", c.Client.Name(), err)
	}
	return &Discovery{document: provider.NewCached(c.get, c.Now)}, nil
}

// Document returns the discovery document, which must not be modified. If there is none
// that can be used, the error is Unavailable, or that of ctx if it ends first.
func (s *Discovery) Document(ctx context.Context) (*Document, error) {
	v, err := s.document.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot get the discovery document: %w", err)
	}
	return v.Value, nil
}

// get fetches the document.
func (c DiscoveryConfig) get(ctx context.Context) (*Document, error) {
	d := new(Document)
	if err := c.Client.Document(provider.WithKind(ctx, provider.KindDiscovery), strings.TrimSuffix(c.base(), "/")+wellKnown, d); err != nil {
		return nil, err
	}
	if err := d.check(c); err != nil {
		return nil, c.Client.Unavailable(err)
	}
	return d, nil
}
