package cluster

import (
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// tcpProxy forwards connections to a server, with a latency, and counts the bytes sent.
type tcpProxy struct {
	addr    string
	latency time.Duration     // of each direction, set before the first connection
	sent    func(total int64) // called after each piece sent by clients; may be nil
	total   atomic.Int64

	mu       sync.Mutex
	listener net.Listener
	upstream string
	conns    map[net.Conn]bool // nil while it is severed
	frozen   chan struct{}     // closed by thaw; nil while it is not frozen
}

// newTCPProxy starts a proxy in front of the server of the URL, and returns it with the URL
// of the database through the proxy. It is closed at the end of the test.
func newTCPProxy(t *testing.T, database string, latency time.Duration, sent func(total int64)) (*tcpProxy, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := &tcpProxy{upstream: u.Host, latency: latency, sent: sent, conns: map[net.Conn]bool{}}
	if err := p.listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	p.addr = p.listener.Addr().String()
	t.Cleanup(func() { p.sever(); p.thaw() })
	u.Host = p.addr
	return p, u.String()
}

func (p *tcpProxy) serve(client net.Conn) {
	p.mu.Lock()
	upstream := p.upstream
	p.mu.Unlock()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		_ = client.Close()
		return
	}
	p.mu.Lock()
	severed := p.conns == nil
	if !severed {
		p.conns[client], p.conns[server] = true, true
	}
	p.mu.Unlock()
	if severed {
		_, _ = client.Close(), server.Close()
		return
	}
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, p.count) })
	both.Go(func() { p.copy(client, server, func(int) {}) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	delete(p.conns, server)
	p.mu.Unlock()
}

func (p *tcpProxy) count(n int) {
	if total := p.total.Add(int64(n)); p.sent != nil {
		p.sent(total)
	}
}

// redirect cuts all connections, and forwards new ones to another server.
func (p *tcpProxy) redirect(upstream string) {
	p.mu.Lock()
	p.upstream = upstream
	p.mu.Unlock()
	p.cut()
}

// freeze accepts connections and data, but forwards nothing until thaw.
func (p *tcpProxy) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = make(chan struct{})
}

// thaw ends a freeze, and forwards the data received since.
func (p *tcpProxy) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen != nil {
		close(p.frozen)
		p.frozen = nil
	}
}

func (p *tcpProxy) awaitThaw() {
	p.mu.Lock()
	frozen := p.frozen
	p.mu.Unlock()
	if frozen != nil {
		<-frozen
	}
}

// sever cuts all connections and refuses new ones until restore.
func (p *tcpProxy) sever() {
	p.mu.Lock()
	_ = p.listener.Close()
	p.mu.Unlock()
	p.cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = nil
}

// restore accepts connections again after sever.
func (p *tcpProxy) restore(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	p.conns = map[net.Conn]bool{}
	p.mu.Unlock()
	if err := p.listen(p.addr); err != nil {
		t.Fatal(err)
	}
}

// listen serves the connections to the address.
func (p *tcpProxy) listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = l
	go dbtest.Accept(l, p.serve)
	return nil
}

// cut cuts all current connections.
func (p *tcpProxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

type piece struct {
	due  time.Time
	text []byte
}

// copy forwards each piece of data after the latency. It continues to read in the meantime,
// so that the latency does not limit the bandwidth.
func (p *tcpProxy) copy(to, from net.Conn, passed func(int)) {
	pieces := make(chan piece, 1024)
	var writing sync.WaitGroup
	writing.Go(func() {
		for next := range pieces {
			time.Sleep(time.Until(next.due)) // the latency itself
			p.awaitThaw()
			if _, err := to.Write(next.text); err != nil {
				_ = from.Close()
			}
			passed(len(next.text))
		}
		_ = to.Close()
	})
	for buffer := make([]byte, 32<<10); ; {
		n, err := from.Read(buffer)
		if n > 0 {
			pieces <- piece{time.Now().Add(p.latency), append([]byte(nil), buffer[:n]...)}
		}
		if err != nil {
			break
		}
	}
	close(pieces)
	writing.Wait()
}
