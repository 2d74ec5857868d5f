package cli

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// WithServer calls fn with a client of the server, which must be given.
func (p *Program) WithServer(ctx context.Context, c *Connection, fn func(client.Client) error) error {
	if _, err := c.Normalized(); err != nil {
		return err
	}
	return p.WithClient(ctx, c, Reading, fn)
}

// NewestChange returns the newest change of the namespace, or nil if it has no changes.
func NewestChange(ctx context.Context, service client.Client, namespace string) (*guidonv1.Change, error) {
	newest, err := Call[guidonv1.ListChangesResponse](ctx, service, "/guidon.v1.ChangeService/ListChanges",
		&guidonv1.ListChangesRequest{NamespaceKey: namespace, Limit: 1})
	if err != nil || len(newest.GetChanges()) == 0 {
		return nil, err
	}
	return newest.GetChanges()[0], nil
}

// Follow calls each for the changes of the namespace after the position, as they are made,
// until ctx ends. It requires a server.
func (p *Program) Follow(ctx context.Context, c *Connection, namespace, after string, each func(*guidonv1.Change) error) error {
	options, err := p.Authenticated(c)
	if err != nil {
		return err
	}
	err = client.Follower{
		Namespace: namespace, After: after, Each: each,
		Lost: func(err error) { fmt.Fprintf(p.Err, "guidon: %v; connecting again\n", err) },
	}.Follow(ctx, c.Address, options)
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.Unimplemented:
		return fmt.Errorf("%w; the server does not offer change streams unless streams.enabled is true", err)
	}
	return err
}
