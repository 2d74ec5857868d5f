package rediscache

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/guidonhq/guidon/store/redact"
)

// Connection configures a client. URL is required; the zero value of every other field
// is a usable default.
type Connection struct {
	// URL is redis://user:password@host:port/database, rediss:// for TLS, or
	// unix://user:password@/path.
	URL string
	// Mode is the kind of deployment, a single server if empty. For a cluster, or for
	// several Sentinels, the URL names one node and its addr parameters name the
	// others. With Sentinel the parameter master_name is required, and the parameters
	// username and password are those of Redis itself.
	Mode string
	// CAFile is a PEM file of the certificate authorities that TLS trusts, or empty for
	// those of the system.
	CAFile string

	PoolSize        int           // connections; default 16
	MinIdleConns    int           // connections opened in advance; default none
	ConnMaxIdleTime time.Duration // default 5 minutes
}

// The modes of a [Connection].
const (
	ModeSingle   = "single"
	ModeCluster  = "cluster"
	ModeSentinel = "sentinel"
)

const (
	defaultPoolSize    = 16
	defaultMaxIdleTime = 5 * time.Minute
)

// Open returns a client, which connects on first use. No error contains the URL.
func Open(c Connection) (redis.UniversalClient, error) {
	logging.Disable() // errors are returned, and logged by the caller
	o, err := c.parse()
	if err != nil {
		return nil, err
	}
	if err := c.trust(o.TLSConfig); err != nil {
		return nil, err
	}
	o.PoolSize = cmp.Or(c.PoolSize, defaultPoolSize)
	o.MinIdleConns = c.MinIdleConns
	o.ConnMaxIdleTime = cmp.Or(c.ConnMaxIdleTime, defaultMaxIdleTime)
	// Callers decide how long to wait and whether to retry.
	o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
	// Unused features would cost connections, round trips and permissions.
	o.PipelinePoolSize, o.DisableIdentity = -1, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewUniversalClient(o), nil
}

var (
	errMasterName = errors.New("redis: invalid URL: Sentinel requires the parameter master_name")
	// The library's error may contain a part of the password.
	errURL = errors.New("redis: invalid URL: must be redis://user:password@host:port/database, rediss:// for TLS or unix:// for a socket, with the password percent-encoded")
	errTLS = errors.New("redis: a CA file requires TLS; use a rediss:// URL")
)

// parse takes only the addresses, the database and the credentials from the URL. It
// ignores all other options, in particular reading from replicas, which return old
// data.
func (c Connection) parse() (*redis.UniversalOptions, error) {
	if redact.Check(c.URL) != nil {
		return nil, errURL
	}
	switch c.Mode {
	case ModeCluster:
		o, err := redis.ParseClusterURL(c.URL)
		if err != nil {
			return nil, errURL
		}
		return &redis.UniversalOptions{
			IsClusterMode: true, Addrs: o.Addrs, Username: o.Username, Password: o.Password, TLSConfig: o.TLSConfig,
		}, nil
	case ModeSentinel:
		o, err := redis.ParseFailoverURL(c.URL)
		if err != nil {
			return nil, errURL
		}
		if o.MasterName == "" {
			return nil, errMasterName
		}
		return &redis.UniversalOptions{
			MasterName: o.MasterName, Addrs: o.SentinelAddrs, Username: o.Username, Password: o.Password, DB: o.DB,
			SentinelUsername: o.SentinelUsername, SentinelPassword: o.SentinelPassword, TLSConfig: o.TLSConfig,
		}, nil
	}
	o, err := redis.ParseURL(c.URL)
	if err != nil {
		return nil, errURL
	}
	return &redis.UniversalOptions{
		Addrs: []string{o.Addr}, Username: o.Username, Password: o.Password, DB: o.DB, TLSConfig: o.TLSConfig,
	}, nil
}

// trust makes the TLS configuration, which is nil without TLS, trust the authorities in
// CAFile.
func (c Connection) trust(config *tls.Config) error {
	if config != nil {
		config.MinVersion = tls.VersionTLS12
	}
	if c.CAFile == "" {
		return nil
	}
	if config == nil {
		return errTLS
	}
	text, err := os.ReadFile(c.CAFile)
	if err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return fmt.Errorf("redis: no certificate in %s", c.CAFile)
	}
	return nil
}
