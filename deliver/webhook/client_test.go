package webhook

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// guarded returns a client that allows public addresses only.
func guarded() *Client {
	c := NewClient(ClientConfig{Version: "test"})
	c.limit = 2 * time.Second
	return c
}

func (c *Client) mustPost(t *testing.T, url string) *answer {
	t.Helper()
	a, err := c.post(t.Context(), &Sender{URL: url}, "id", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rawReceiver answers each request with the text, and then closes the connection unless hang is set.
func rawReceiver(t *testing.T, hang bool, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				q, err := http.ReadRequest(bufio.NewReader(conn))
				if err != nil {
					return
				}
				_, _ = fmt.Fprint(conn, text)
				if hang {
					<-t.Context().Done()
				}
				_ = q.Body.Close()
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// Receivers that lie, stall and close early.
func TestReceivers(t *testing.T) {
	c := NewClient(ClientConfig{Version: "test", Allowed: loopback})
	c.limit = time.Second
	for _, tt := range []struct {
		name, answer string
		hang         bool
		status       int
		want         string
	}{
		{"nothing", "", false, 0, "no valid answer"},
		{"stalls before the answer", "", true, 0, "timeout"},
		{"stalls in the header", "HTTP/1.1 200 OK\r\nX-A: ", true, 0, "timeout"},
		{"closes in the header", "HTTP/1.1 200 OK\r\nX-A: ", false, 0, "no valid answer"},
		{"no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", false, 0, "no valid answer"},
		{"an endless header", "HTTP/1.1 200 OK\r\nX-A: " + strings.Repeat("a", 1<<20), false, 0, "no valid answer"},
		{"less than it says", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort", false, 200, ""},
		{"more than it says", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" + strings.Repeat("a", 1<<20), false, 200, ""},
		{"stalls in the body", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort", true, 200, ""},
		{"an invalid length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", false, 0, "no valid answer"},
		{"a failure that stalls", "HTTP/1.1 503 No\r\nContent-Length: 1000\r\n\r\nshort", true, 503, "status 503"},
		{"continue, then nothing", "HTTP/1.1 100 Continue\r\n\r\n", true, 0, "timeout"},
		{"switches protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, 101, "status 101"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			begun := time.Now()
			a := c.mustPost(t, rawReceiver(t, tt.hang, tt.answer))
			if a.status != tt.status || a.err != tt.want || len(a.text) > maxKept {
				t.Errorf("got %d %q and %d bytes, want %d %q", a.status, a.err, len(a.text), tt.status, tt.want)
			}
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// An endless answer is read up to a bound.
func TestEndlessAnswer(t *testing.T) {
	var sent atomic.Int64
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			n, err := w.Write(make([]byte, 8<<10))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	c := NewClient(ClientConfig{Version: "test", Allowed: loopback})
	if a := c.mustPost(t, r.URL); !a.ok() || len(a.text) > maxKept {
		t.Errorf("got %+v", a)
	}
	eventually(t, "the connection is closed", func() bool { return sent.Load() > 0 })
	if sent.Load() > 64<<20 {
		t.Errorf("%d bytes were sent", sent.Load())
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 6, 3, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-1": 0, "x": 0, "99999999999999999999": 0,
		"Wed, 03 Jun 2026 09:00:30 GMT": 30 * time.Second, "Wed, 03 Jun 2026 08:00:00 GMT": 0,
	} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// forbidden are URLs of addresses that are not public, in many spellings.
var forbidden = strings.Fields(`
	127.0.0.1 127.0.0.1:80 127.1 127.0.1 127.255.255.254 0 0.0.0.0 0.1.2.3 2130706433 017700000001 0x7f000001 0x7f.0.0.1 0177.0.0.1
	0x7f.1 127.0.0.1. 127.1. 127.00.00.01 127.0.0.0x1 00127.0.0.1 4294967295 localhost localhost. LOCALHOST LocalHost.
	10.0.0.1 10.255.255.255 10.1 167772161 0x0a000001 012.0.0.1 172.16.0.1 172.31.255.255 2886729729 192.168.0.1 192.168.1 3232235521
	0xc0a80001 0300.0250.0.1 169.254.169.254 169.254.169.254. 169.254.43518 2852039166 0xa9fea9fe 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe
	169.254.170.2 169.254.170.23 100.64.0.1 100.100.100.200 100.127.255.255 168.63.129.16 192.0.0.1 192.0.0.192 192.0.2.1 198.18.0.1
	198.19.255.255 198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 192.31.196.1 192.52.193.1 192.175.48.1
	[::] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::1]:8080 [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:127.0.0.1]
	[::ffff:10.0.0.1] [::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::127.0.0.1] [::7f00:1] [::8.8.8.8] [::ffff:0:127.0.0.1]
	[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b:1::1] [64:ff9b:1::127.0.0.1]
	[2002:7f00:1::] [2002:7f00:0001::1] [2002:a9fe:a9fe::] [2002:a00:1::1] [2002:c0a8:1::1] [2001::1] [2001:0:7f00:1::] [2001:10::1]
	[2001:db8::1] [2001:20::1] [3fff::1] [5f00::1] [100::1] [100:0:0:1::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fd20:ce::254] [fe80::1] [fe80::1%25lo] [fe80::1%25eth0]
	[::1%25lo] [fec0::1] [ff02::1] [ff0e::1] [fd00:0:0:0:0:0:0:1] [0::1] [::0:1] [::ffff:0.0.0.0] [::ffff:0:0] [64:ff9b::0.0.0.0]
	①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 １２７.0.0.1 xn--n3h.localhost ⓛocalhost [fe80::a%25] [::ffff:192.168.0.1] [::ffff:c0a8:1]`)

// None of them is connected to: most are refused when they are dialed, and some are no name at all.
func TestForbidden(t *testing.T) {
	if len(forbidden) < 120 {
		t.Errorf("only %d spellings", len(forbidden))
	}
	c := guarded()
	c.dialer.Resolver = resolver(t, func(string) []netip.Addr { return nil }) // names that the machine would resolve itself
	refused := 0
	for _, host := range forbidden {
		for _, scheme := range []string{"http", "https"} {
			switch a := c.mustPost(t, scheme+"://"+host+"/latest/meta-data"); {
			case a.err == "address not allowed":
				refused++
			case a.err != "name not found" && a.err != "invalid URL" && a.err != "no valid answer" && a.err != "cannot connect" || a.status != 0:
				t.Errorf("%s: got %+v", host, a)
			}
		}
	}
	if refused < 180 {
		t.Errorf("%d were refused by their address, want at least 180", refused)
	}
}

// The same networks, when they are allowed.
func TestAllowedNetworks(t *testing.T) {
	r := newReceiver(t, nil)
	for network, want := range map[string]string{"127.0.0.0/8": "", "10.0.0.0/8": "address not allowed", "::/0": "address not allowed"} {
		c := NewClient(ClientConfig{Version: "test", Allowed: []netip.Prefix{netip.MustParsePrefix(network)}})
		if a := c.mustPost(t, r.URL); a.err != want {
			t.Errorf("%s: got %q, want %q", network, a.err, want)
		}
	}
	if a := NewClient(ClientConfig{Anywhere: true}).mustPost(t, r.URL); !a.ok() {
		t.Errorf("anywhere: got %+v", a)
	}
	if a := guarded().mustPost(t, r.URL); a.err != "address not allowed" {
		t.Errorf("guarded: got %+v", a)
	}
}

// resolver returns a resolver that answers queries by the function.
func resolver(t *testing.T, answer func(name string) []netip.Addr) *net.Resolver {
	t.Helper()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := l.ReadFrom(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			var m dnsmessage.Message
			if err != nil || m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			m.Response, m.Additionals = true, nil
			for _, a := range answer(strings.TrimSuffix(q.Name.String(), ".")) {
				header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
				switch {
				case a.Is4() && q.Type == dnsmessage.TypeA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
				case a.Is6() && q.Type == dnsmessage.TypeAAAA:
					m.Answers = append(m.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
				}
			}
			if len(m.Answers) == 0 && answer("") == nil {
				m.RCode = dnsmessage.RCodeNameError
			}
			packed, err := m.Pack()
			if err == nil {
				_, _ = l.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", l.LocalAddr().String())
	}}
}

// A name that resolves to a public address first and to another one later, or to both, gains nothing: every address
// that is dialed is checked.
func TestChangingNames(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { t.Error("the receiver on the own machine was reached") })
	_, port, err := net.SplitHostPort(strings.TrimPrefix(r.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	own := netip.MustParseAddr("127.0.0.1")
	var asked atomic.Int64
	for name, answers := range map[string]func() []netip.Addr{
		"private":        func() []netip.Addr { return []netip.Addr{own, netip.MustParseAddr("10.0.0.1")} },
		"private ipv6":   func() []netip.Addr { return []netip.Addr{netip.IPv6Loopback(), netip.MustParseAddr("fd00::1")} },
		"then private":   func() []netip.Addr { return [][]netip.Addr{{netip.MustParseAddr("240.0.0.1")}, {own}}[asked.Add(1)%2] },
		"both in one":    func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("240.0.0.1"), own, netip.IPv6Loopback()} },
		"mapped to ipv6": func() []netip.Addr { return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1")} },
	} {
		c := guarded()
		c.dialer.Resolver = resolver(t, func(string) []netip.Addr { return answers() })
		for range 6 {
			if a := c.mustPost(t, "http://receiver.example:"+port); a.err != "address not allowed" {
				t.Errorf("%s: got %+v", name, a)
			}
		}
	}
}

// Errors say neither where a name leads nor what the URL is.
func TestErrorsTellNothing(t *testing.T) {
	c := guarded()
	c.dialer.Resolver = resolver(t, func(string) []netip.Addr { return []netip.Addr{netip.MustParseAddr("10.1.2.3")} })
	for _, url := range []string{"https://receiver.example/secret-path", "https://10.1.2.3/secret-path", "https://\x00/secret-path"} {
		if a := c.mustPost(t, url); a.ok() || strings.Contains(a.err, "10.1") || strings.Contains(a.err, "secret") || strings.Contains(a.err, "receiver") {
			t.Errorf("%q: got %+v", url, a)
		}
	}
}
