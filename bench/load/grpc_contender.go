package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

// grpcContender is a server process.
type grpcContender struct {
	*server
	grpc string // the address
}

// startGRPC starts the service and imports the data set.
func startGRPC(ctx context.Context, s grpcSettings, dir string) (*grpcContender, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	server, err := startGuidon(ctx, "guidon", s.Guidon, filepath.Join(dir, "guidon.db"), "GUIDON_SERVER_GRPC_PORT="+port)
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

func startGRPCFloor(ctx context.Context) (*grpcContender, error) {
	server, err := startFloor(ctx)
	if err != nil {
		return nil, err
	}
	return listening(server, server.Address)
}

// listening waits until the server listens on both addresses.
func listening(server *server, grpc string) (*grpcContender, error) {
	for _, address := range []string{server.Address, grpc} {
		_, err := server.Await(func() bool {
			probe, err := net.Dial("tcp", address)
			return err == nil && probe.Close() == nil
		})
		if err != nil {
			return nil, errors.Join(err, server.Stop())
		}
	}
	return &grpcContender{server: server, grpc: grpc}, nil
}
