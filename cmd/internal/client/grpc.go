package client

import (
	"context"
	"fmt"
	"net"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
)

// grpcClient invokes operations over gRPC.
type grpcClient struct {
	address string
	options Options
	conn    *grpc.ClientConn
}

func newGRPC(u *url.URL, options Options) (Client, error) {
	host := u.Host
	if u.Port() == "" {
		host = net.JoinHostPort(u.Hostname(), defaultPorts[u.Scheme])
	}
	security := insecure.NewCredentials()
	if u.Scheme == "grpcs" {
		config, err := options.TLS()
		if err != nil {
			return nil, err
		}
		security = credentials.NewTLS(config)
	}
	conn, err := grpc.NewClient(host,
		grpc.WithTransportCredentials(security),
		grpc.WithDisableRetry(), // retryClient decides what may be retried
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxResponse)),
	)
	if err != nil {
		return nil, err
	}
	return &grpcClient{address: u.Scheme + "://" + host, options: options, conn: conn}, nil
}

// Invoke implements Client.
func (c *grpcClient) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	if c.options.Token != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+c.options.Token)
	}
	for name, values := range headers(ctx) {
		ctx = metadata.AppendToOutgoingContext(ctx, name, values[0])
	}
	var sentTo peer.Peer
	var header, trailer metadata.MD // of the response
	err := c.conn.Invoke(ctx, method, request, response, grpc.Peer(&sentTo), grpc.Header(&header), grpc.Trailer(&trailer))
	if err == nil {
		return nil
	}
	if ended := contextError(ctx, c.options.Timeout); ended != nil {
		return ended
	}
	s := status.Convert(err)
	code := codeOf(uint32(s.Code()))
	if refused := handshakeError(c.address, s.Message()); refused != nil {
		return refused
	}
	if code != guidon.Unavailable {
		return &guidon.Error{Code: code, Message: s.Message()}
	}
	err = &guidon.Error{Code: code, Message: fmt.Sprintf("%s is unavailable: %s; %s", c.address, s.Message(), unreachable)}
	if sentTo.Addr != nil && len(header)+len(trailer) == 0 {
		return lostError{err}
	}
	return err
}

// Close implements Client.
func (c *grpcClient) Close() error {
	if err := c.conn.Close(); err != nil && status.Code(err) != codes.Canceled { // Canceled: closed before
		return err
	}
	return nil
}
