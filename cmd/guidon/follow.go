package main

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// withServer calls fn with a client of the server, which must be given.
func (p *program) withServer(ctx context.Context, c *connection, fn func(client.Client) error) error {
	if _, err := c.normalized(); err != nil {
		return err
	}
	return p.withClient(ctx, c, reading, fn)
}

// newestChange returns the newest change of the namespace, or nil if it has no changes.
func newestChange(ctx context.Context, service client.Client, namespace string) (*guidonv1.Change, error) {
	newest := new(guidonv1.ListChangesResponse)
	request := &guidonv1.ListChangesRequest{NamespaceKey: namespace, Limit: 1}
	err := service.Invoke(ctx, "/guidon.v1.ChangeService/ListChanges", request, newest)
	if err != nil || len(newest.GetChanges()) == 0 {
		return nil, err
	}
	return newest.GetChanges()[0], nil
}

// follow calls each for the changes of the namespace after the position, as they are made,
// until ctx ends. It requires a server.
func (p *program) follow(ctx context.Context, c *connection, namespace, after string, each func(*guidonv1.Change) error) error {
	options, err := p.authenticated(c)
	if err != nil {
		return err
	}
	err = client.Follower{
		Namespace: namespace, After: after, Each: each,
		Lost: func(err error) { fmt.Fprintf(p.err, "guidon: %v; connecting again\n", err) },
	}.Follow(ctx, c.address, options)
	switch guidon.CodeOf(err) {
	case guidon.NotFound, guidon.Unimplemented:
		return fmt.Errorf("%w; the server does not offer change streams unless streams.enabled is true", err)
	}
	return err
}
