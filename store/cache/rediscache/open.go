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

// Connection says how to reach Redis. Zero fields mean what is right.
type Connection struct {
	// URL is redis://user:password@host:port/database, rediss:// for TLS, or
	// unix://user:password@/path.
	URL string
	// Mode is what is there, one server when empty. Of a cluster, or of several
	// Sentinels, the URL names one node, and its parameters addr further ones. With
	// Sentinel the parameter master_name is needed; username and password there are
	// those of Redis itself.
	Mode string
	// CAFile is a PEM file of the authorities that TLS trusts; the system's when
	// empty.
	CAFile string

	PoolSize        int           // connections; 16
	MinIdleConns    int           // that are made ahead; none
	ConnMaxIdleTime time.Duration // 5 minutes
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

// Open returns a client, which connects when it is used. No error shows the URL.
func Open(c Connection) (redis.UniversalClient, error) {
	logging.Disable() // errors are returned, and told by the caller
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
	// Who waits decides for how long, and what comes then.
	o.ContextTimeoutEnabled, o.MaxRetries, o.DialerRetries = true, -1, 1
	// What is not used costs connections, round trips and permissions.
	o.PipelinePoolSize, o.DisableIdentity = -1, true
	o.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return redis.NewUniversalClient(o), nil
}

var (
	// The error of the library may show a part of the password.
	errURL = errors.New("redis: the URL is not understood; it is redis://user:password@host:port/database, rediss:// for TLS or unix:// for a socket, with the password percent-encoded")
	errTLS = errors.New("redis: a certificate authority is for TLS, which a URL with rediss:// asks for")
)

// parse takes from the URL where Redis is, and who asks. Nothing else that it may
// say is heeded, least of all to read from replicas: they answer with the past.
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
		if err != nil || o.MasterName == "" {
			return nil, errURL
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

// trust makes the TLS configuration, which is nil where there is no TLS, trust the
// authorities of the file.
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
		return fmt.Errorf("redis: %s has no certificate in it", c.CAFile)
	}
	return nil
}
