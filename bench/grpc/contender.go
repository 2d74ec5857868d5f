package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/guidonhq/guidon/bench/internal/harness"
)

// contender is a server process.
type contender struct {
	*harness.Server
	grpc string // the address
}

// startGuidon starts the service and imports the data set.
func startGuidon(ctx context.Context, s settings, dir string) (*contender, error) {
	address, err := harness.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := harness.StartGuidon(ctx, "guidon", s.Guidon, filepath.Join(dir, "guidon.db"), "GUIDON_SERVER_GRPC_PORT="+port)
	if err != nil {
		return nil, err
	}
	c, err := listening(server, address)
	if err != nil {
		return nil, err
	}
	if err := c.Import("default", s.Flags); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot fill the database: %w", err), c.Stop())
	}
	return c, nil
}

func startFloor(ctx context.Context) (*contender, error) {
	server, err := harness.StartFloor(ctx)
	if err != nil {
		return nil, err
	}
	return listening(server, server.Address)
}

// listening waits until the server listens on both addresses.
func listening(server *harness.Server, grpc string) (*contender, error) {
	for _, address := range []string{server.Address, grpc} {
		_, err := server.Await(func() bool {
			probe, err := net.Dial("tcp", address)
			return err == nil && probe.Close() == nil
		})
		if err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	return &contender{Server: server, grpc: grpc}, nil
}
