package server

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/stream"
)

// Config configures [Run]. The zero value of a field with a default means that
// default.
type Config struct {
	Handler *handler.Handler // serves HTTP, and gRPC through the operations table
	Health  *Health          // the one passed to Handler; Run updates it
	Streams *stream.Hub      // the ones passed to Handler; nil if there are none
	HTTP    HTTP
	GRPC    GRPC
	TLS     *TLS // nil = plaintext on both listeners

	// DiagnosticsAddress is the host:port of a listener for operators, which serves
	// [handler.Handler.Diagnostics] over plaintext. Port 0 picks a free one. If it is
	// empty, there is no such listener.
	DiagnosticsAddress string

	Delay  *Delay // measured while the server runs; may be nil
	Loops  []Loop
	Logger *slog.Logger // nil = slog.Default

	// ShutdownDelay is how long requests are still accepted after health has
	// turned to not serving, so that load balancers notice first. Clients are
	// told to close their connections.
	ShutdownDelay time.Duration
	// ShutdownTimeout limits how long requests in progress may take to finish
	// after the delay. Requests that have not finished by then are aborted.
	// Default 10 s.
	ShutdownTimeout time.Duration

	// OnReady is called once with the actual addresses, when both listeners
	// accept connections and health is serving.
	OnReady func(http, grpc net.Addr)
	// Abort ends the stop immediately when it is closed, and starts it if it has
	// not started. It is meant for a second signal.
	Abort <-chan struct{}
}

// HTTP configures the HTTP listener. The defaults are those of contract 1.1.
type HTTP struct {
	Address        string        // host:port; port 0 picks a free one
	ReadTimeout    time.Duration // header and body, default 10 s
	WriteTimeout   time.Duration // from the start of a response, default 30 s
	IdleTimeout    time.Duration // default 2 min
	MaxHeaderBytes int           // default 1 MiB
	MaxConnections int           // open at a time, including idle ones; default 5000
}

// GRPC configures the gRPC listener (operations 2.2).
type GRPC struct {
	Address               string        // host:port; port 0 picks a free one
	MaxConnectionIdle     time.Duration // zero = no limit
	MaxConnectionAge      time.Duration // zero = no limit; set it to rebalance behind an L4 balancer
	MaxConnectionAgeGrace time.Duration // zero = no limit
	ReceiveTimeout        time.Duration // for receiving a request message, default 10 s
	MaxConnections        int           // open at a time, including idle ones; default 1000
}

// TLS names the PEM files of the certificate and key, which both listeners use.
type TLS struct {
	CertFile string
	KeyFile  string
}

// withDefaults returns the configuration with every default filled in, or an error
// that lists all problems.
func (c Config) withDefaults() (Config, error) {
	var problems []error
	if c.Handler == nil {
		problems = append(problems, errors.New("server: Config.Handler is missing"))
	}
	if c.Health == nil {
		problems = append(problems, errors.New("server: Config.Health is missing"))
	}
	for _, loop := range c.Loops {
		if loop.Interval <= 0 || loop.Run == nil {
			problems = append(problems, fmt.Errorf("server: loop %q needs a function and a positive interval", loop.Name))
		}
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.ShutdownTimeout = cmp.Or(c.ShutdownTimeout, 10*time.Second)
	c.HTTP.ReadTimeout = cmp.Or(c.HTTP.ReadTimeout, 10*time.Second)
	c.HTTP.WriteTimeout = cmp.Or(c.HTTP.WriteTimeout, 30*time.Second)
	c.HTTP.IdleTimeout = cmp.Or(c.HTTP.IdleTimeout, 2*time.Minute)
	c.HTTP.MaxHeaderBytes = cmp.Or(c.HTTP.MaxHeaderBytes, 1<<20)
	c.HTTP.MaxConnections = cmp.Or(c.HTTP.MaxConnections, 5000)
	c.GRPC.ReceiveTimeout = cmp.Or(c.GRPC.ReceiveTimeout, 10*time.Second)
	c.GRPC.MaxConnections = cmp.Or(c.GRPC.MaxConnections, 1000)
	return c, errors.Join(problems...)
}
