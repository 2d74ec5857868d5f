// Package config is the configuration of the programs: a struct whose tags are
// the one table that the file, the environment, the documentation, the
// template and the answer of /meta/config are made from, so that they cannot
// differ (operations 2).
package config

import "time"

// Config is a complete configuration. Its zero value is not usable; Default
// and Load return ones that are.
type Config struct {
	Version        string         `key:"version" default:"1.0" doc:"Version of this format. 1.0 is the only one."`
	Server         Server         `key:"server" doc:"Where and how the service listens."`
	DB             DB             `key:"db" doc:"The database that keeps everything."`
	Cache          Cache          `key:"cache" doc:"How fresh answers are, on a database that several servers share. With an SQLite file, which has one server, no answer is ever stale."`
	Changes        Changes        `key:"changes" doc:"The records of every change, which are the history and the audit log."`
	Streams        Streams        `key:"streams" doc:"Event streams, which tell clients of changes as they happen."`
	Log            Log            `key:"log" doc:"What is logged, and where to."`
	CORS           CORS           `key:"cors" doc:"Calls from web pages of other origins."`
	Diagnostics    Diagnostics    `key:"diagnostics" doc:"Looking into the running process."`
	Metrics        Metrics        `key:"metrics" doc:"Prometheus metrics."`
	Authentication Authentication `key:"authentication" doc:"Who may call."`
	Lambda         Lambda         `key:"lambda" doc:"What stands in front of guidon-lambda. A server has nothing of the kind."`
}

// Server says where and how the service listens.
type Server struct {
	Host                string        `key:"host" default:"0.0.0.0" doc:"Address that the HTTP and the gRPC listener bind to; 127.0.0.1 admits this machine only."`
	Protocol            string        `key:"protocol" default:"http" options:"http https" doc:"https serves TLS on the HTTP and the gRPC listener."`
	HTTPPort            int           `key:"http_port" default:"8080" min:"0" max:"65535" doc:"Port of the HTTP listener; 0 takes a free one."`
	HTTPSPort           int           `key:"https_port" default:"443" min:"0" max:"65535" doc:"Port used instead of http_port when the protocol is https; 0 takes a free one."`
	GRPCPort            int           `key:"grpc_port" default:"9000" min:"0" max:"65535" doc:"Port of the gRPC listener; 0 takes a free one."`
	DiagnosticsAddress  string        `key:"diagnostics_address" doc:"Address and port, such as 127.0.0.1:8081, of a further listener for operators. It serves /health, /metrics and, if diagnostics.profiling.enabled, /debug/pprof over plain HTTP without authentication: only operators must be able to reach it. Empty is none."`
	AllowedHosts        []string      `key:"allowed_hosts" doc:"Host names, without port, under which the HTTP listeners answer requests for which authentication is not required, besides localhost, IP addresses, names without a dot and names below localhost, local, internal, svc, test and home.arpa; * is every name. Evaluation, OFREP and health have no such limit. It keeps web pages whose name resolves to this service from using it (DNS rebinding)."`
	CertFile            string        `key:"cert_file" doc:"PEM file of the certificate chain; required when the protocol is https."`
	CertKey             string        `key:"cert_key" doc:"PEM file of the certificate's private key; required when the protocol is https."`
	GRPCConnMaxIdleTime time.Duration `key:"grpc_conn_max_idle_time" default:"0s" min:"0s" doc:"A gRPC connection without calls is closed after this long; 0s keeps it."`
	GRPCConnMaxAge      time.Duration `key:"grpc_conn_max_age" default:"0s" min:"0s" doc:"A gRPC connection is closed at this age, so that clients behind a balancer spread anew; 0s keeps it."`
	GRPCConnMaxAgeGrace time.Duration `key:"grpc_conn_max_age_grace" default:"0s" min:"0s" doc:"Time that the calls of a connection closed for its age have to finish; 0s is without limit."`
	ReadTimeout         time.Duration `key:"read_timeout" default:"10s" min:"1ms" doc:"Longest time that reading one request may take, over HTTP and gRPC. Over HTTP a slow client may be cut off later than this or write_timeout says, by a twentieth of the shorter one (at least 1ms, at most 1s)."`
	WriteTimeout        time.Duration `key:"write_timeout" default:"30s" min:"1ms" doc:"Longest time from the start of a response to its end, over HTTP. A response of more than 64 KiB has 10s for each 64 KiB instead. The work before is limited by request_timeout, and reading the request by read_timeout."`
	RequestTimeout      time.Duration `key:"request_timeout" default:"30s" min:"1ms" doc:"Longest time that the work of one call may take, over HTTP and gRPC."`
	MaxConnections      int           `key:"max_connections" default:"5000" min:"1" max:"1000000" doc:"Most HTTP connections that are open at a time, event streams and idle ones included. A further one takes the place of an idle one, or gets 503."`
	GRPCMaxConnections  int           `key:"grpc_max_connections" default:"1000" min:"1" max:"1000000" doc:"Most gRPC connections that are open at a time; further ones are closed. A connection carries 100 calls at a time."`
	RequestMemory       int           `key:"request_memory_mib" default:"0" min:"0" max:"1048576" doc:"Limit, in MiB, of the memory of all requests and responses in progress. Requests beyond it wait for a second and then get 503; large ones do not keep evaluations waiting. 0 is a fourteenth of GOMEMLIMIT and at least 32, or 64 if that is not set."`
	MaxWaitPercent      int           `key:"max_wait_percent" default:"10" min:"1" max:"100" doc:"Share of its timeout, in percent, that a request may have waited for a processor. If requests wait longer, they get 503 at once, so that those that are answered are answered in time."`
	ShutdownDelay       time.Duration `key:"shutdown_delay" default:"0s" min:"0s" doc:"Time between health turning to NOT_SERVING and the listeners closing, for balancers to notice. Meanwhile requests are answered, and clients are told to close their connections. Behind a balancer, set it to a few seconds."`
	ShutdownTimeout     time.Duration `key:"shutdown_timeout" default:"10s" min:"1ms" doc:"Longest time that calls under way have to finish when the server stops."`
}

// Changes says how long the records of changes are kept.
type Changes struct {
	Retention       time.Duration `key:"retention" default:"0s" min:"0s" doc:"Records of changes older than this are deleted, but for the newest of each object; 0s keeps all. At least 24h otherwise."`
	CleanupInterval time.Duration `key:"cleanup_interval" default:"1h" min:"1ms" doc:"Time between two deletions of old records."`
}

// MinRetention is the shortest time for which records of changes are kept:
// whoever asks what happened yesterday gets an answer.
const MinRetention = 24 * time.Hour

// Streams says whether and to how many clients changes are told.
type Streams struct {
	Enabled    bool   `key:"enabled" default:"true" doc:"Serves event streams, and tells OpenFeature's web providers where they are; otherwise they poll if they are told to."`
	MaxOFREP   int    `key:"max_ofrep" default:"3000" min:"1" max:"100000" doc:"Most streams of OpenFeature providers that this server keeps open, at about 30 KiB of memory each. While there are as many, further providers are told of none, and poll if they are told to."`
	MaxChanges int    `key:"max_changes" default:"200" min:"1" max:"10000" doc:"Most streams of change records that this server keeps open; further ones are refused."`
	PublicURL  string `key:"public_url" doc:"URL at which browsers reach this service, such as https://flags.example/base; needed where a proxy serves it under a path."`
}

// Log says what is logged, and where to.
type Log struct {
	Level     string  `key:"level" default:"info" options:"debug info warn error panic fatal" fold:"true" doc:"Least important events that are logged; panic and fatal mean error."`
	File      string  `key:"file" doc:"File that the log is appended to, instead of the standard output."`
	Encoding  string  `key:"encoding" default:"auto" options:"auto console json" doc:"console is for people, json for machines; auto is console on a terminal and json elsewhere."`
	GRPCLevel string  `key:"grpc_level" default:"error" options:"debug info warn error panic fatal" fold:"true" doc:"Least important events of the gRPC library itself that are logged."`
	Keys      LogKeys `key:"keys" doc:"Member names of the log's JSON form."`

	Evaluations LogEvaluations `key:"evaluations" doc:"An event for each evaluation, besides the one for each request."`
}

// LogEvaluations says whether and how evaluations are logged.
type LogEvaluations struct {
	Enabled  bool `key:"enabled" default:"false" doc:"Logs each evaluation of a flag, at the level info and by the names of OpenTelemetry's conventions for feature flags."`
	Entities bool `key:"entities" default:"false" doc:"Names in it for whom: the entity id or targeting key, which is personal data. Needs enabled."`
}

// LogKeys names the members that every event has.
type LogKeys struct {
	Time    string `key:"time" default:"T" doc:"Member that holds the time."`
	Level   string `key:"level" default:"L" doc:"Member that holds the level."`
	Message string `key:"message" default:"M" doc:"Member that holds the message."`
}

// CORS says which web pages of other origins may call.
type CORS struct {
	Enabled        bool     `key:"enabled" default:"false" doc:"Lets web pages of other origins call."`
	AllowedOrigins []string `key:"allowed_origins" default:"*" doc:"Origins that may call, such as https://shop.example; one star inside stands for anything, a star alone for every origin. Where no token is required, or none is checked, pages may write only if their origin is listed without a star."`
	AllowedHeaders []string `key:"allowed_headers" default:"Accept Authorization Content-Type X-CSRF-Token X-Fern-Language X-Fern-SDK-Name X-Fern-SDK-Version X-Flipt-Namespace X-Flipt-Accept-Server-Version" doc:"Request headers that such pages may send. X-Flipt-Environment, If-None-Match, If-Match, X-Request-Id, X-Guidon-Namespace, X-API-Key, Last-Event-ID, Cache-Control, Guidon-Min-Revision, Traceparent and Tracestate are always allowed."`
}

// Diagnostics says how the running process may be looked into.
type Diagnostics struct {
	Profiling Profiling `key:"profiling" doc:"The Go profiler."`
}

// Profiling switches the profiler.
type Profiling struct {
	Enabled bool `key:"enabled" default:"false" doc:"Serves the Go profiler under /debug/pprof: on the listener of server.diagnostics_address, and, where authentication is required, on the HTTP listener to callers with a token that is not limited to a namespace."`
}

// Metrics says whether and to whom metrics are shown.
type Metrics struct {
	Enabled bool `key:"enabled" default:"true" doc:"Serves Prometheus metrics at /metrics."`
	Public  bool `key:"public" default:"false" doc:"Shows the metrics to everybody who reaches the HTTP listener. Otherwise it shows them only where authentication is required, to callers with a token that is not limited to a namespace; the listener of server.diagnostics_address shows them in any case."`
}

// Authentication says who may call.
type Authentication struct {
	Required bool    `key:"required" default:"false" doc:"Refuses calls without a valid token. When false, tokens are not looked at."`
	Exclude  Exclude `key:"exclude" doc:"Parts of the interface that need no token even when one is required."`
	Methods  Methods `key:"methods" doc:"Ways to get a token."`
}

// Exclude names the areas that need no token.
type Exclude struct {
	Management bool `key:"management" default:"false" doc:"The management interface (/api/v1) needs no token."`
	Evaluation bool `key:"evaluation" default:"false" doc:"Evaluation (/evaluate/v1) needs no token."`
	OFREP      bool `key:"ofrep" default:"false" doc:"OFREP (/ofrep/v1) needs no token."`
}

// Methods are the ways to get a token.
type Methods struct {
	Token Token `key:"token" doc:"Static tokens, created by an administrator."`
}

// Token configures static tokens.
type Token struct {
	Enabled   bool      `key:"enabled" default:"false" doc:"Offers static tokens; on a database that never had a token, the start creates a first one."`
	Cleanup   Cleanup   `key:"cleanup" doc:"Removal of expired tokens."`
	Bootstrap Bootstrap `key:"bootstrap" doc:"The first token of a database that never had one. Once a database has had a token, these keys have no effect on it."`
}

// Cleanup says when expired tokens are removed.
type Cleanup struct {
	Interval    time.Duration `key:"interval" default:"1h" min:"1ms" doc:"Time between two removals of expired tokens."`
	GracePeriod time.Duration `key:"grace_period" default:"30m" min:"1ms" doc:"An expired token is still listed this long before it is removed."`
}

// Bootstrap describes the first token.
type Bootstrap struct {
	Token      string            `key:"token" secret:"true" doc:"The first token. When empty it is random and shown once in the log; a token set here is never logged. Changing it later, or deleting the token, creates no other one; the start then logs a warning."`
	Expiration time.Duration     `key:"expiration" default:"0s" min:"0s" doc:"The first token expires after this long; 0s is never."`
	Metadata   map[string]string `key:"metadata" secret:"true" doc:"Further metadata of the first token. Keys are lower-cased."`
}

// Lambda says what stands in front of the function on AWS Lambda.
type Lambda struct {
	BasePath  string `key:"base_path" doc:"What a custom domain or a load balancer's rule puts before every path, such as /flags. The stage of an API needs no mention."`
	Streaming bool   `key:"streaming" default:"false" doc:"Set when the function URL or the REST API in front is set to stream responses; answers then have no limit of 6 MB. Without that setting in front, callers would get the raw stream."`
}

// The encodings of the log.
const (
	EncodingAuto    = "auto"
	EncodingConsole = "console"
	EncodingJSON    = "json"
)

// TLS tells whether the listeners serve TLS.
func (s Server) TLS() bool { return s.Protocol == "https" }

// WebPort returns the port of the HTTP listener for the protocol.
func (s Server) WebPort() int {
	if s.TLS() {
		return s.HTTPSPort
	}
	return s.HTTPPort
}
