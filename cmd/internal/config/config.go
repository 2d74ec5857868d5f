// Package config loads the configuration of the programs (operations 2). The tags of
// its struct are the only definition of the keys. The parsers for the file and the
// environment, the documentation, the template and the response of /meta/config are
// derived from them, so that they cannot differ.
package config

import "time"

// Config is a complete configuration. Its zero value is not usable; Load returns one
// that is.
type Config struct {
	Version        string         `key:"version" default:"1.0" doc:"Version of the configuration format. 1.0 is the only one."`
	Server         Server         `key:"server" doc:"Where and how the service listens."`
	DB             DB             `key:"db" doc:"The database that stores everything."`
	Cache          Cache          `key:"cache" doc:"How fresh responses are, on a database that several servers share. With an SQLite file, which has one server, no response is ever stale."`
	Changes        Changes        `key:"changes" doc:"The change records, which are the history and the audit log."`
	Streams        Streams        `key:"streams" doc:"Event streams, which notify clients of changes as they happen."`
	Log            Log            `key:"log" doc:"What is logged, and where."`
	CORS           CORS           `key:"cors" doc:"Requests from web pages of other origins."`
	Diagnostics    Diagnostics    `key:"diagnostics" doc:"Diagnostics of the running process."`
	Metrics        Metrics        `key:"metrics" doc:"Prometheus metrics."`
	Authentication Authentication `key:"authentication" doc:"Which requests need a credential, and how clients and people get one."`
	Authorization  Authorization  `key:"authorization" doc:"Roles: what authenticated clients and people may do."`
	UI             UI             `key:"ui" doc:"The web interface: what is the same for everyone."`
	Lambda         Lambda         `key:"lambda" doc:"Settings of guidon-lambda for the API or function URL in front of it. They have no effect on a server."`

	// Warnings say which settings are valid, but have no effect or are dangerous. Each names
	// the key and the variable, and has no secrets.
	Warnings []string
}

// Server configures the listeners, their limits and the shutdown.
type Server struct {
	Host                string        `key:"host" default:"0.0.0.0" doc:"Address that the HTTP and the gRPC listener bind to; 127.0.0.1 allows only clients on this machine."`
	Protocol            string        `key:"protocol" default:"http" options:"http https" doc:"https serves TLS on the HTTP and the gRPC listener."`
	HTTPPort            int           `key:"http_port" default:"8080" min:"0" max:"65535" doc:"Port of the HTTP listener; 0 uses any free port."`
	HTTPSPort           int           `key:"https_port" default:"443" min:"0" max:"65535" doc:"Port used instead of http_port if the protocol is https; 0 uses any free port."`
	GRPCPort            int           `key:"grpc_port" default:"9000" min:"0" max:"65535" doc:"Port of the gRPC listener; 0 uses any free port."`
	DiagnosticsAddress  string        `key:"diagnostics_address" doc:"Address and port, such as 127.0.0.1:8081, of an additional listener for operators. It serves /health, /metrics and, if diagnostics.profiling.enabled is true, /debug/pprof over plain HTTP without authentication, so it must be reachable by operators only. Empty disables it."`
	PublicURL           string        `key:"public_url" doc:"URL at which people reach this service, such as https://flags.example or https://flags.example/base. Required for authentication.methods.oidc and authentication.methods.codehost. It must be https, unless its host is localhost or a loopback address, or authentication.session.secure is false."`
	AllowedHosts        []string      `key:"allowed_hosts" doc:"Host names, without port, that the HTTP listeners accept in requests that need no authentication; * accepts every name. The host of server.public_url, localhost, IP addresses, names without a dot and names below localhost, local, internal, svc, test and home.arpa are always accepted. Evaluation, OFREP and health accept every name. This prevents web pages whose name resolves to this service from using it (DNS rebinding)."`
	TrustedProxies      []string      `key:"trusted_proxies" doc:"Networks such as 10.0.0.0/8, or addresses, of the proxies in front of this service that append the address of their client to X-Forwarded-For. The last address in it that is not one of them is the caller's, for authentication.failure_limit. The header of any other client is ignored."`
	CertFile            string        `key:"cert_file" doc:"PEM file of the certificate chain; required if the protocol is https."`
	CertKey             string        `key:"cert_key" doc:"PEM file of the certificate's private key; required if the protocol is https."`
	GRPCConnMaxIdleTime time.Duration `key:"grpc_conn_max_idle_time" default:"0s" min:"0s" doc:"A gRPC connection without calls is closed after this long; 0s keeps it."`
	GRPCConnMaxAge      time.Duration `key:"grpc_conn_max_age" default:"0s" min:"0s" doc:"A gRPC connection is closed at this age, so that clients are spread over the servers behind a load balancer again; 0s keeps it."`
	GRPCConnMaxAgeGrace time.Duration `key:"grpc_conn_max_age_grace" default:"0s" min:"0s" doc:"How long calls may still run on a connection that is closed because of its age; 0s means no limit."`
	ReadTimeout         time.Duration `key:"read_timeout" default:"10s" min:"1ms" doc:"Longest time to read one request, over HTTP and gRPC. Over HTTP, a slow client may be disconnected later than this timeout or write_timeout, by a twentieth of the shorter one (at least 1ms, at most 1s)."`
	WriteTimeout        time.Duration `key:"write_timeout" default:"30s" min:"1ms" doc:"Longest time to write one response, over HTTP. A response of more than 64 KiB has 10s for each 64 KiB instead. Processing the request is limited by request_timeout, and reading it by read_timeout."`
	RequestTimeout      time.Duration `key:"request_timeout" default:"30s" min:"1ms" doc:"Longest time to process one request, over HTTP and gRPC."`
	ReadOnly            bool          `key:"read_only" default:"false" doc:"Refuses every change of namespaces, flags and segments with 403, whoever makes it. Evaluation, plans, dry runs, signing in, tokens and bindings work as ever."`
	MaxConnections      int           `key:"max_connections" default:"5000" min:"1" max:"1000000" doc:"Maximum number of open HTTP connections, including event streams and idle connections. Beyond it, a new connection replaces an idle one, or gets 503."`
	GRPCMaxConnections  int           `key:"grpc_max_connections" default:"1000" min:"1" max:"1000000" doc:"Maximum number of open gRPC connections; further ones are closed. A connection carries at most 100 concurrent calls."`
	RequestMemory       int           `key:"request_memory_mib" default:"0" min:"0" max:"1048576" doc:"Limit, in MiB, on the memory of all requests and responses in progress. Requests beyond it wait for up to a second and then get 503; large requests do not make evaluations wait. Operations that read changes, earlier states or whole namespaces may work with three times as much besides, one after another. 0 means a fourteenth of GOMEMLIMIT, but at least 32; or 64 if GOMEMLIMIT is not set."`
	MaxWaitPercent      int           `key:"max_wait_percent" default:"10" min:"1" max:"100" doc:"Percentage of its timeout that a request may spend waiting for a CPU. If requests wait longer, they get 503 immediately, so that the others are answered in time. If they wait for more than 200ms for a second, so do those that have waited for as long."`
	ShutdownDelay       time.Duration `key:"shutdown_delay" default:"0s" min:"0s" doc:"Time between health changing to NOT_SERVING and the listeners closing, so that load balancers notice. During this time requests are still answered, and clients are told to close their connections. Behind a load balancer, set it to a few seconds."`
	ShutdownTimeout     time.Duration `key:"shutdown_timeout" default:"10s" min:"1ms" doc:"How long requests in progress may still take when the server stops."`
}

// Changes configures how long change records are kept.
type Changes struct {
	Retention       time.Duration `key:"retention" default:"0s" min:"0s" doc:"Change records older than this are deleted, except the newest of each object and those that a reader of the change log has not passed; earlier states of namespaces can be read as far back as records are kept. 0s keeps all. Any other value must be at least 24h."`
	CleanupInterval time.Duration `key:"cleanup_interval" default:"1h" min:"1ms" doc:"Interval between deletions of old change records."`
}

// MinRetention is the shortest time for which change records are kept, so that
// yesterday's changes can always be looked up.
const MinRetention = 24 * time.Hour

// Streams configures the event streams.
type Streams struct {
	Enabled    bool   `key:"enabled" default:"true" doc:"Serves event streams, and announces them to OpenFeature's web providers, which otherwise poll if configured to."`
	MaxOFREP   int    `key:"max_ofrep" default:"3000" min:"1" max:"100000" doc:"Maximum number of open streams of OpenFeature providers on this server, at about 20 KiB of memory each. When it is reached, no streams are announced to further providers, which poll if configured to."`
	MaxChanges int    `key:"max_changes" default:"200" min:"1" max:"10000" doc:"Maximum number of open streams of change records on this server; further ones are rejected."`
	PublicURL  string `key:"public_url" defaultText:"server.public_url" doc:"URL at which browsers reach this service, such as https://flags.example/base; required if a proxy serves it under a path."`
}

// Log configures what is logged, and where.
type Log struct {
	Level     string  `key:"level" default:"info" options:"debug info warn error panic fatal" fold:"true" doc:"Lowest level of events that are logged; panic and fatal mean error."`
	File      string  `key:"file" doc:"File to append the log to, instead of the standard output."`
	Encoding  string  `key:"encoding" default:"auto" options:"auto console json" doc:"console is for people, json for machines; auto is console on a terminal and json elsewhere."`
	GRPCLevel string  `key:"grpc_level" default:"error" options:"debug info warn error panic fatal" fold:"true" doc:"Lowest level of events of the gRPC library itself that are logged."`
	Keys      LogKeys `key:"keys" doc:"Member names in the JSON encoding of the log."`

	Evaluations LogEvaluations `key:"evaluations" doc:"An event for each evaluation, in addition to the one for each request."`
}

// LogEvaluations configures the log of evaluations.
type LogEvaluations struct {
	Enabled  bool `key:"enabled" default:"false" doc:"Logs each evaluation of a flag, at the level info and with the names of OpenTelemetry's conventions for feature flags."`
	Entities bool `key:"entities" default:"false" doc:"Includes the entity id or targeting key, which is personal data. Requires log.evaluations.enabled."`
}

// LogKeys configures the names of the members that every event has.
type LogKeys struct {
	Time    string `key:"time" default:"T" doc:"Name of the member for the time."`
	Level   string `key:"level" default:"L" doc:"Name of the member for the level."`
	Message string `key:"message" default:"M" doc:"Name of the member for the message."`
}

// CORS configures which web pages of other origins may use the service.
type CORS struct {
	Enabled        bool     `key:"enabled" default:"false" doc:"Allows requests from web pages of other origins."`
	AllowedOrigins []string `key:"allowed_origins" default:"*" doc:"Allowed origins, such as https://shop.example; a star within an origin matches anything, and a star alone matches every origin. If no token is required or checked, pages may write only if their origin is listed without a star."`
	AllowedHeaders []string `key:"allowed_headers" default:"Accept Authorization Content-Type X-CSRF-Token X-Fern-Language X-Fern-SDK-Name X-Fern-SDK-Version X-Flipt-Namespace X-Flipt-Accept-Server-Version" doc:"Request headers that such pages may send. X-Flipt-Environment, If-None-Match, If-Match, X-Request-Id, X-Guidon-Namespace, X-API-Key, Last-Event-ID, Cache-Control, Guidon-Min-Revision, Guidon-Message, Traceparent and Tracestate are always allowed."`
}

// Diagnostics configures diagnostics of the running process.
type Diagnostics struct {
	Profiling Profiling `key:"profiling" doc:"The Go profiler."`
}

// Profiling configures the profiler.
type Profiling struct {
	Enabled bool `key:"enabled" default:"false" doc:"Serves the Go profiler under /debug/pprof. It is available on the listener of server.diagnostics_address and, if authentication is required, on the HTTP listener to callers with a token that is not limited to a namespace."`
}

// Metrics configures the metrics and who may read them.
type Metrics struct {
	Enabled bool `key:"enabled" default:"true" doc:"Serves Prometheus metrics at /metrics."`
	Public  bool `key:"public" default:"false" doc:"Serves the metrics to anyone who can reach the HTTP listener. Otherwise that listener serves them only if authentication is required, to callers with a token that is not limited to a namespace. The listener of server.diagnostics_address always serves them."`
}

// Lambda configures the function on AWS Lambda.
type Lambda struct {
	BasePath  string `key:"base_path" doc:"Path prefix that a custom domain or a load balancer rule adds to every path, such as /flags. The stage of an API need not be included."`
	Streaming bool   `key:"streaming" default:"false" doc:"Set to true if the function URL or the REST API in front is configured to stream responses, which removes the limit of 6 MB. Without that configuration, clients would get the raw stream."`
}

// The encodings of the log.
const (
	EncodingAuto    = "auto"
	EncodingConsole = "console"
	EncodingJSON    = "json"
)

// TLS reports whether the listeners use TLS.
func (s Server) TLS() bool { return s.Protocol == "https" }

// WebPort returns the port of the HTTP listener for the protocol.
func (s Server) WebPort() int {
	if s.TLS() {
		return s.HTTPSPort
	}
	return s.HTTPPort
}
