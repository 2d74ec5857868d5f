package server

import (
	"cmp"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/runtimes/server/tcp"
)

// Limits of the gRPC listener that are not configurable.
const (
	maxConcurrentStreams  = 100      // per connection
	maxHeaderListSize     = 16 << 10 // as in other implementations of gRPC; headers are read before authentication
	maxReceiveMessage     = 4 << 20  // gRPC's own default (contract 1.1); larger imports must use HTTP
	maxReceiveValues      = 600_000  // in a message; larger imports must use HTTP
	handshakeTimeout      = 10 * time.Second
	pingAfter             = 2 * time.Minute // without any traffic, to find dead peers
	pingTimeout           = 20 * time.Second
	minClientPingInterval = 10 * time.Second // clients that ping more often are disconnected
)

// Settings that make calls cheaper. Dynamic windows would cost a ping for every few
// messages. A message larger than its window is admitted when it is read.
const (
	streamWindow     = 64 << 10 // bytes that a client may send ahead on one stream
	connectionWindow = 1 << 20  // and on all streams of a connection
	streamWorkers    = 64       // goroutines reused for calls, because their stacks have grown; more calls get new ones
)

// newGRPCServer returns the gRPC server with all its services registered: those of the
// enabled operations, health and reflection (contract 12).
func newGRPCServer(config Config, tlsSettings *tls.Config, calls *calls) *grpc.Server {
	operations := enabledOperations(config.Handler)
	options := []grpc.ServerOption{
		grpc.ForceServerCodecV2(calls.codec),
		grpc.MaxRecvMsgSize(maxReceiveMessage),
		grpc.MaxConcurrentStreams(maxConcurrentStreams),
		grpc.MaxHeaderListSize(maxHeaderListSize),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle:     config.GRPC.MaxConnectionIdle,
			MaxConnectionAge:      config.GRPC.MaxConnectionAge,
			MaxConnectionAgeGrace: config.GRPC.MaxConnectionAgeGrace,
			Time:                  pingAfter,
			Timeout:               pingTimeout,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{
			MinTime:             minClientPingInterval,
			PermitWithoutStream: true, // SDKs keep idle connections alive through NAT
		}),
		grpc.InTapHandle(keepMetadata),
		grpc.NumStreamWorkers(streamWorkers),
		grpc.UnaryInterceptor(calls.guardUnary),
		grpc.StreamInterceptor(calls.guardStream),
	}
	if tlsSettings != nil {
		// NewTLS adds the h2 protocol name.
		options = append(options, grpc.Creds(credentials.NewTLS(tlsSettings)))
	}
	server := grpc.NewServer(options...)
	services := serviceDescriptions(operations, calls)
	for _, description := range services {
		server.RegisterService(description, calls)
	}
	config.Health.register(lists.Map(services, func(s *grpc.ServiceDesc) string { return s.ServiceName }))
	healthpb.RegisterHealthServer(server, &healthService{health: config.Health, draining: calls.draining})
	reflection.Register(server)
	return server
}

// serveGRPC serves until the server is stopped or the listener is closing. It returns
// nil in those cases.
func serveGRPC(server *grpc.Server, listener net.Listener) error {
	err := server.Serve(listener)
	if errors.Is(err, grpc.ErrServerStopped) || errors.Is(err, tcp.ErrClosing) {
		return nil
	}
	return err
}

func enabledOperations(h *handler.Handler) []*call.Operation {
	return slices.DeleteFunc(h.Operations(), func(o *call.Operation) bool { return !o.Enabled() })
}

// serviceDescriptions groups the operations by service. A service without operations is
// not registered, so that its methods return Unimplemented and reflection does not list
// it.
func serviceDescriptions(operations []*call.Operation, calls *calls) []*grpc.ServiceDesc {
	byName := map[string]*grpc.ServiceDesc{}
	var services []*grpc.ServiceDesc
	for _, o := range operations {
		service := byName[o.Service()]
		if service == nil {
			service = &grpc.ServiceDesc{
				ServiceName: o.Service(),
				HandlerType: (*any)(nil), // any receiver will do: methods are closures
				Metadata:    fileOf(o.Service()),
			}
			byName[o.Service()] = service
			services = append(services, service)
		}
		service.Methods = append(service.Methods, grpc.MethodDesc{
			MethodName: o.Method(),
			Handler:    calls.method(o),
		})
	}
	slices.SortFunc(services, func(a, b *grpc.ServiceDesc) int { return cmp.Compare(a.ServiceName, b.ServiceName) })
	return services
}

// fileOf returns the path of the .proto file that declares the service, for reflection.
func fileOf(service string) string {
	descriptor, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return ""
	}
	return descriptor.ParentFile().Path()
}
