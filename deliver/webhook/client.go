package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Limits of an attempt.
const (
	attemptTime = 10 * time.Second
	maxRead     = 64 << 10 // of the answer
	maxKept     = 4 << 10  // of what is read
	maxHeader   = 64 << 10 // of the answer
)

// ClientConfig configures a [Client].
type ClientConfig struct {
	Version  string         // of this program
	Allowed  []netip.Prefix // networks that are allowed although they are not public
	Anywhere bool           // every address is allowed: the operator has chosen the URL
	Proxy    *url.URL       // through which requests are sent, and which must then check addresses; or nil
	Flipt    bool           // the signature of Flipt is sent, too
}

// Client sends requests to URLs that others have chosen. It connects to public addresses only, which it decides when
// the address is dialed, so that a name cannot be resolved to another one afterwards.
type Client struct {
	http   *http.Client
	dialer *net.Dialer
	limit  time.Duration // of an attempt
	agent  string
	flipt  bool
}

// azureWire is an address of Azure's hosts that is public by its number.
var azureWire = netip.MustParsePrefix("168.63.129.16/32")

// NewClient returns a client.
func NewClient(c ClientConfig) *Client {
	dialer := &net.Dialer{Timeout: attemptTime}
	transport := &http.Transport{
		DialContext: dialer.DialContext, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: attemptTime,
	}
	switch {
	case c.Proxy != nil:
		transport.Proxy = http.ProxyURL(c.Proxy)
	case !c.Anywhere:
		dialer.Control = guard(c.Allowed)
	}
	return &Client{
		http: &http.Client{
			Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		dialer: dialer, limit: attemptTime, agent: strings.TrimSuffix("Guidon/"+c.Version, "/"), flipt: c.Flipt,
	}
}

// guard returns the check of every address that is dialed: public unicast only, or in an allowed network.
func guard(allowed []netip.Prefix) func(network, address string, c syscall.RawConn) error {
	var v4, v6 []netip.Prefix
	for _, p := range allowed {
		if p.Addr().Is4() {
			v4 = append(v4, p)
		} else {
			v6 = append(v6, p)
		}
	}
	return ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...),
		ssrf.WithDeniedV4Prefixes(azureWire)).Safe
}

// answer is what came of an attempt.
type answer struct {
	at     time.Time
	took   time.Duration
	status int
	text   string        // the beginning of the body
	err    string        // "" for a success; it has neither address nor URL
	asked  time.Duration // Retry-After, or 0
}

func (a *answer) ok() bool { return a.err == "" }

// post makes one attempt. The error says that ctx has ended.
func (c *Client) post(ctx context.Context, s *Sender, id string, body []byte) (*answer, error) {
	a := &answer{at: time.Now().UTC()}
	bounded, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	q, err := http.NewRequestWithContext(bounded, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		a.err = "invalid URL"
		return a, nil
	}
	for name, value := range s.Headers {
		q.Header.Set(name, value)
	}
	q.Header.Set("Content-Type", s.ContentType())
	q.Header.Set("User-Agent", c.agent)
	sign(q.Header, id, a.at, body, s.Secrets, c.flipt)
	response, err := c.http.Do(q)
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		a.read(response)
	}
	a.took = time.Since(a.at)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		a.err = classOf(err)
	}
	return a, nil
}

// read reads the status and the beginning of the body. What happens to the rest does not matter: the receiver has
// answered.
func (a *answer) read(response *http.Response) {
	a.status = response.StatusCode
	switch {
	case a.status >= 300 && a.status < 400:
		a.err = fmt.Sprintf("status %d: redirects are not followed", a.status)
	case a.status < 200 || a.status >= 400:
		a.err = fmt.Sprintf("status %d", a.status)
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxRead))
	a.text = printable(text[:min(len(text), maxKept)])
	a.asked = retryAfter(response.Header.Get("Retry-After"), a.at)
}

// printable returns the text without what a database or a terminal does not accept.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}

// retryAfter returns the duration of the header, in seconds or as a time.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// classOf says what kind of error it is. The text of an error could tell what is in the operator's network.
func classOf(err error) string {
	var (
		dns     *net.DNSError
		tooLong interface{ Timeout() bool }
		op      *net.OpError
	)
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedNetwork), errors.Is(err, ssrf.ErrInvalidHostPort):
		return "address not allowed"
	case errors.As(err, &tooLong) && tooLong.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.As(err, &dns):
		return "name not found"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case isTLS(err):
		return "TLS failed: the certificate is not valid for the host, or the versions do not match"
	case errors.As(err, &op) && op.Op == "dial":
		return "cannot connect"
	}
	return "no valid answer"
}

func isTLS(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		alert       tls.AlertError
	)
	return errors.As(err, &certificate) || errors.As(err, &record) || errors.As(err, &alert)
}
