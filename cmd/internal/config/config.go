// Package config loads the configuration of the programs (operations 2). The tags of
// its struct are the only definition of the keys, and descriptions.yaml says what each is
// for. The parsers for the file and the environment, the documentation, the template and
// the response of /meta/config are derived from them, so that they cannot differ.
package config

import "time"

// Config is a complete configuration. Its zero value is not usable; Load returns one
// that is.
type Config struct {
	Version        string         `key:"version" default:"1.0"`
	Server         Server         `key:"server"`
	DB             DB             `key:"db"`
	Cache          Cache          `key:"cache"`
	Changes        Changes        `key:"changes"`
	Analytics      Analytics      `key:"analytics"`
	Streams        Streams        `key:"streams"`
	Webhooks       Webhooks       `key:"webhooks"`
	Audit          Audit          `key:"audit"`
	Log            Log            `key:"log"`
	CORS           CORS           `key:"cors"`
	Diagnostics    Diagnostics    `key:"diagnostics"`
	Metrics        Metrics        `key:"metrics"`
	Tracing        Tracing        `key:"tracing"`
	Authentication Authentication `key:"authentication"`
	Authorization  Authorization  `key:"authorization"`
	UI             UI             `key:"ui"`
	Lambda         Lambda         `key:"lambda"`

	// Warnings say which settings are valid, but have no effect or are dangerous. Each names
	// the key and the variable, and has no secrets.
	Warnings []string
}

// Server configures the listeners, their limits and the shutdown.
type Server struct {
	Host                string        `key:"host" default:"0.0.0.0"`
	Protocol            string        `key:"protocol" default:"http" options:"http https"`
	HTTPPort            int           `key:"http_port" default:"8080" min:"0" max:"65535"`
	HTTPSPort           int           `key:"https_port" default:"443" min:"0" max:"65535"`
	GRPCPort            int           `key:"grpc_port" default:"9000" min:"0" max:"65535"`
	DiagnosticsAddress  string        `key:"diagnostics_address"`
	PublicURL           string        `key:"public_url"`
	AllowedHosts        []string      `key:"allowed_hosts"`
	TrustedProxies      []string      `key:"trusted_proxies"`
	CertFile            string        `key:"cert_file"`
	CertKey             string        `key:"cert_key"`
	GRPCConnMaxIdleTime time.Duration `key:"grpc_conn_max_idle_time" default:"0s" min:"0s"`
	GRPCConnMaxAge      time.Duration `key:"grpc_conn_max_age" default:"0s" min:"0s"`
	GRPCConnMaxAgeGrace time.Duration `key:"grpc_conn_max_age_grace" default:"0s" min:"0s"`
	ReadTimeout         time.Duration `key:"read_timeout" default:"10s" min:"1ms"`
	WriteTimeout        time.Duration `key:"write_timeout" default:"30s" min:"1ms"`
	RequestTimeout      time.Duration `key:"request_timeout" default:"30s" min:"1ms"`
	ReadOnly            bool          `key:"read_only" default:"false"`
	MaxConnections      int           `key:"max_connections" default:"5000" min:"1" max:"1000000"`
	GRPCMaxConnections  int           `key:"grpc_max_connections" default:"1000" min:"1" max:"1000000"`
	RequestMemory       int           `key:"request_memory_mib" default:"0" min:"0" max:"1048576"`
	MaxWaitPercent      int           `key:"max_wait_percent" default:"10" min:"1" max:"100"`
	ShutdownDelay       time.Duration `key:"shutdown_delay" default:"0s" min:"0s"`
	ShutdownTimeout     time.Duration `key:"shutdown_timeout" default:"10s" min:"1ms"`
}

// Changes configures how long change records are kept.
type Changes struct {
	Retention       time.Duration `key:"retention" default:"0s" min:"0s"`
	CleanupInterval time.Duration `key:"cleanup_interval" default:"1h" min:"1ms"`
}

// MinRetention is the shortest time for which change records are kept, so that
// yesterday's changes can always be looked up.
const MinRetention = 24 * time.Hour

// Analytics configures how evaluations are counted, and how long the counts are kept.
type Analytics struct {
	Enabled     bool          `key:"enabled" default:"true"`
	Buffer      Buffer        `key:"buffer"`
	KeepMinutes time.Duration `key:"keep_minutes" default:"48h" min:"2h" max:"720h"`
	KeepHours   time.Duration `key:"keep_hours" default:"1440h" min:"48h" max:"8760h"`
	KeepDays    time.Duration `key:"keep_days" default:"17520h" min:"720h" max:"87600h"`
}

// Buffer configures how long counts stay in memory.
type Buffer struct {
	FlushPeriod time.Duration `key:"flush_period" default:"1m" min:"10s" max:"5m"`
}

// Streams configures the event streams.
type Streams struct {
	Enabled    bool   `key:"enabled" default:"true"`
	MaxOFREP   int    `key:"max_ofrep" default:"3000" min:"1" max:"100000"`
	MaxChanges int    `key:"max_changes" default:"200" min:"1" max:"10000"`
	PublicURL  string `key:"public_url" defaultText:"server.public_url"`
}

// Webhooks configures what is sent to webhooks, and to which addresses.
type Webhooks struct {
	Enabled         bool     `key:"enabled" default:"true"`
	AllowHTTP       bool     `key:"allow_http" default:"false"`
	AllowedNetworks []string `key:"allowed_networks"`
	ProxyURL        string   `key:"proxy_url" secret:"true"`
	FliptSignature  bool     `key:"flipt_signature" default:"false"`
}

// Log configures what is logged, and where.
type Log struct {
	Level     string  `key:"level" default:"info" options:"debug info warn error panic fatal" fold:"true"`
	File      string  `key:"file"`
	Encoding  string  `key:"encoding" default:"auto" options:"auto console json"`
	GRPCLevel string  `key:"grpc_level" default:"error" options:"debug info warn error panic fatal" fold:"true"`
	Keys      LogKeys `key:"keys"`

	Evaluations LogEvaluations `key:"evaluations"`
}

// LogEvaluations configures the log of evaluations.
type LogEvaluations struct {
	Enabled  bool `key:"enabled" default:"false"`
	Entities bool `key:"entities" default:"false"`
}

// LogKeys configures the names of the members that every event has.
type LogKeys struct {
	Time    string `key:"time" default:"T"`
	Level   string `key:"level" default:"L"`
	Message string `key:"message" default:"M"`
}

// CORS configures which web pages of other origins may use the service.
type CORS struct {
	Enabled        bool     `key:"enabled" default:"false"`
	AllowedOrigins []string `key:"allowed_origins" default:"*"`
	AllowedHeaders []string `key:"allowed_headers" default:"Accept Authorization Content-Type X-CSRF-Token X-Fern-Language X-Fern-SDK-Name X-Fern-SDK-Version X-Flipt-Namespace X-Flipt-Accept-Server-Version"`
}

// Diagnostics configures diagnostics of the running process.
type Diagnostics struct {
	Profiling Profiling `key:"profiling"`
}

// Profiling configures the profiler.
type Profiling struct {
	Enabled bool `key:"enabled" default:"false"`
}

// Metrics configures the metrics and who may read them.
type Metrics struct {
	Enabled bool `key:"enabled" default:"true"`
	Public  bool `key:"public" default:"false"`

	Exporter string `key:"exporter" default:"prometheus" options:"prometheus otlp"`
	OTLP     OTLP   `key:"otlp"`
	EMF      bool   `key:"emf" default:"false"`
}

// Tracing configures which requests are traced, and where the spans are sent.
type Tracing struct {
	Enabled       bool     `key:"enabled" default:"false"`
	Exporter      string   `key:"exporter" default:"otlp"`
	SamplingRatio float64  `key:"sampling_ratio" default:"1" min:"0" max:"1"`
	Propagators   []string `key:"propagators" default:"tracecontext baggage"`
	OTLP          OTLP     `key:"otlp"`
}

// OTLP configures a collector.
type OTLP struct {
	Endpoint string            `key:"endpoint"`
	Headers  map[string]string `key:"headers" secret:"true"`
}

// Lambda configures the function on AWS Lambda.
type Lambda struct {
	BasePath  string `key:"base_path"`
	Streaming bool   `key:"streaming" default:"false"`
}

// ExporterOTLP is the exporter that sends metrics to a collector.
const ExporterOTLP = "otlp"

// The values of log.encoding besides auto.
const (
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
