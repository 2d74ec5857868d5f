package cluster

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestShutdownLosesNoRequest stops a server with busy keep-alive connections. Each request
// on a connection without a previous Connection: close must get its response.
func TestShutdownLosesNoRequest(t *testing.T) {
	t.Parallel() // it mostly waits
	const rounds = 2
	for _, test := range []struct {
		connections int
		delay       time.Duration
		tls         bool
	}{
		{connections: 40},
		{connections: 40, delay: 300 * time.Millisecond},
		{connections: 200, delay: 300 * time.Millisecond},
		{connections: 40, tls: true},
		{connections: 200, delay: 300 * time.Millisecond, tls: true},
	} {
		t.Run(fmt.Sprintf("%d connections, delay %v, TLS %v", test.connections, test.delay, test.tls), func(t *testing.T) {
			for range rounds {
				env := []string{"GUIDON_SERVER_SHUTDOWN_DELAY=" + test.delay.String()}
				var roots *x509.CertPool
				if test.tls {
					files, pool := certificateFiles(t)
					env, roots = append(env, files...), pool
				}
				s := harness.Start(t, "file:"+filepath.Join(t.TempDir(), "guidon.db"), env...)
				seedShutdown(t, s, roots)
				b := startBusy(t, s, roots, test.connections)
				streams := b.openStreams(t, 3)
				b.untilAnswered(t, 5*test.connections)
				s.Signal(t, syscall.SIGTERM)
				if code := s.Wait(t); code != 0 {
					t.Errorf("exit code %d, want 0\n%s", code, s.Log())
				}
				b.calling.Wait()
				b.check(t)
				for _, stream := range streams {
					if _, err := io.Copy(io.Discard, stream); err != nil {
						t.Errorf("a stream was cut: %v", err)
					}
				}
			}
		})
	}
}

// busy is a set of keep-alive connections with consecutive requests, which are never
// retried.
type busy struct {
	address string
	dialer  func(address string) (net.Conn, error)

	calling  sync.WaitGroup
	answered atomic.Int64
	closing  atomic.Int64 // responses with Connection: close
	mu       sync.Mutex
	lost     []error
}

// startBusy starts the connections. Each reconnects until the server no longer accepts it.
func startBusy(t *testing.T, s *harness.Server, roots *x509.CertPool, connections int) *busy {
	t.Helper()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	b := &busy{address: u.Host, dialer: dialer(roots)}
	for i := range connections {
		think := time.Duration(i%2) * 20 * time.Millisecond // half of them without a pause
		b.calling.Go(func() { b.run(think) })
	}
	return b
}

func dialer(roots *x509.CertPool) func(address string) (net.Conn, error) {
	plain := &net.Dialer{Timeout: harness.Patience}
	return func(address string) (net.Conn, error) {
		if roots == nil {
			return plain.Dial("tcp", address)
		}
		return tls.DialWithDialer(plain, "tcp", address, &tls.Config{RootCAs: roots})
	}
}

func (b *busy) run(think time.Duration) {
	for {
		conn, err := b.dialer(b.address)
		if err != nil {
			if !errors.Is(err, syscall.ECONNREFUSED) {
				b.lose(fmt.Errorf("connecting: %w", err))
			}
			return
		}
		err = b.use(conn, think)
		_ = conn.Close()
		if err != nil {
			b.lose(err)
			return
		}
	}
}

// use sends requests until a response has Connection: close.
func (b *busy) use(conn net.Conn, think time.Duration) error {
	responses := bufio.NewReader(conn)
	for n := 0; ; n++ {
		if think > 0 {
			time.Sleep(rand.N(think))
		}
		last, err := exchange(conn, responses)
		if err != nil {
			return fmt.Errorf("request %d of a connection: %w", n, err)
		}
		b.answered.Add(1)
		if last {
			b.closing.Add(1)
			return nil
		}
	}
}

const shutdownBody = `{"namespaceKey":"default","flagKey":"busy","entityId":"e"}`

// exchange sends an evaluation and reads its response; last reports whether the
// server closes the connection after it.
func exchange(conn net.Conn, responses *bufio.Reader) (last bool, err error) {
	if err := conn.SetDeadline(time.Now().Add(harness.Patience)); err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(conn, "POST /evaluate/v1/boolean HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		len(shutdownBody), shutdownBody)
	if err != nil {
		return false, err
	}
	response, err := http.ReadResponse(responses, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", response.StatusCode, text)
	}
	return response.Close, err
}

func (b *busy) lose(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost = append(b.lost, err)
}

// check reports the requests that were lost.
func (b *busy) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.lost) > 0 {
		t.Errorf("%d requests lost of %d; the first: %v", len(b.lost), int(b.answered.Load())+len(b.lost), b.lost[0])
	}
	t.Logf("%d responses, %d of them with Connection: close", b.answered.Load(), b.closing.Load())
}

// untilAnswered waits for n further responses.
func (b *busy) untilAnswered(t *testing.T, n int) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for begin, end := b.answered.Load(), time.Now().Add(harness.Patience); b.answered.Load() < begin+int64(n); <-again.C {
		if time.Now().After(end) {
			b.check(t)
			t.Fatalf("%d of %d responses", b.answered.Load()-begin, n)
		}
	}
}

// openStreams opens event streams and returns their bodies.
func (b *busy) openStreams(t *testing.T, n int) []io.Reader {
	t.Helper()
	var streams []io.Reader
	for range n {
		conn, err := b.dialer(b.address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		if _, err := io.WriteString(conn, "GET /ofrep/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("a stream: %v, %v", response, err)
		}
		streams = append(streams, response.Body)
	}
	return streams
}

// seedShutdown creates the flag that the busy connections evaluate.
func seedShutdown(t *testing.T, s *harness.Server, roots *x509.CertPool) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots}}
	body := `{"key":"busy","name":"busy","type":"BOOLEAN_FLAG_TYPE","enabled":true}`
	request, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/v1/namespaces/default/flags", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: transport, Timeout: harness.Patience}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Fatalf("creating a flag: status %d", response.StatusCode)
	}
}

// certificateFiles returns the settings of a server with a self-signed certificate, and the
// pool that trusts it.
func certificateFiles(t *testing.T) (env []string, roots *x509.CertPool) {
	t.Helper()
	key, certificate := harness.SelfSigned(t)
	dir := t.TempDir()
	for name, text := range map[string][]byte{"key.pem": key, "cert.pem": certificate} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	roots = x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	return []string{
		"GUIDON_SERVER_PROTOCOL=https", "GUIDON_SERVER_HTTPS_PORT=0",
		"GUIDON_SERVER_CERT_KEY=" + filepath.Join(dir, "key.pem"), "GUIDON_SERVER_CERT_FILE=" + filepath.Join(dir, "cert.pem"),
	}, roots
}
