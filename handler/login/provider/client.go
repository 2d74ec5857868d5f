package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"
)

// Limits of each request to a provider.
const (
	Timeout        = 5 * time.Second // from dialing to the last byte of the body
	MaxBody        = 1 << 20         // bytes, after decompression
	maxHeaderBytes = 64 << 10
	maxAuthorities = 4 << 20 // bytes of their file
)

// Config configures a [Client]. Name is required; the zero value of every other field
// is a usable default.
type Config struct {
	// Name is the name of the provider in errors, which clients may see.
	Name string
	// CAPath names a file of PEM certificates. They replace the certificate authorities
	// of the system.
	CAPath string
	// Bearer returns the token for requests that have none of their own, or "". It is
	// called for each of them.
	Bearer   func() (string, error)
	Observer Observer // optional
}

// Client sends requests to one provider. It is safe for concurrent use.
//
// It uses the proxy of HTTPS_PROXY and NO_PROXY, verifies certificates, and follows no
// redirects. It keeps no connection open: requests are rare, and a connection that was
// idle while a function on AWS Lambda was frozen may fail the next one.
type Client struct {
	name    string
	http    *http.Client
	waiting atomic.Int64 // attempts that wait for the provider
}

// New returns a client. It reads the file of CAPath, and returns an error if the file
// has no certificate.
func New(c Config) (*Client, error) {
	if c.Name == "" {
		return nil, errors.New("the provider has no name")
	}
	roots, err := authorities(c.CAPath)
	if err != nil {
		return nil, Invalid("ca_path", err)
	}
	if c.Observer != nil {
		expect(c.Observer, c.Name)
	}
	base := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return &Client{
		name: c.Name,
		http: &http.Client{Timeout: Timeout, Transport: &transport{base: base, bearer: c.Bearer, name: c.Name, observer: c.Observer}},
	}, nil
}

// authorities returns the certificates in the file, or nil for those of the system if
// path is empty.
func authorities(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := ReadFile(path, maxAuthorities)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate in %s; it must have at least one in PEM form", path)
	}
	return pool, nil
}

// Name returns the name of the provider.
func (c *Client) Name() string { return c.name }

// HTTP returns a client with the same limits for libraries that need one, such as
// golang.org/x/oauth2. A response that exceeds them, or is a redirect, is an error.
// Their errors may quote the response, so they must not reach clients, nor logs
// unless the response failed.
func (c *Client) HTTP() *http.Client { return c.http }

// MaxAttempts is how many attempts to sign in may wait for a provider at the same time.
const MaxAttempts = 64

// Enter admits an attempt to sign in, before it first waits for the provider. The caller
// must call leave once, when it waits no more. If [MaxAttempts] are waiting already, it
// returns Unavailable.
func (c *Client) Enter() (leave func(), err error) {
	if c.waiting.Add(1) > MaxAttempts {
		c.waiting.Add(-1)
		return nil, c.Unavailable(fmt.Errorf("%d attempts are waiting for the provider already", MaxAttempts))
	}
	return func() { c.waiting.Add(-1) }, nil
}
