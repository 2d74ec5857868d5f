package server

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/guidonhq/guidon/handler"
)

// soon is a timeout that tests let expire.
const soon = 30 * time.Millisecond

// connected returns both ends of a connection whose listener sweeps as often as the
// shortest timeout requires.
func connected(t *testing.T, shortest time.Duration) (*httpConn, net.Conn) {
	t.Helper()
	open, err := listenOn(t.Context(), "127.0.0.1:0", "test")
	if err != nil {
		t.Fatal(err)
	}
	listener := newHTTPListener(open, Config{
		Handler: handler.New(handler.Config{}),
		HTTP:    HTTP{ReadTimeout: shortest, WriteTimeout: shortest, IdleTimeout: shortest, MaxConnections: 1},
	})
	peer, err := net.Dial("tcp", open.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, closer := range []interface{ Close() error }{conn, peer, listener} {
			if err := closer.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Error(err)
			}
		}
		if left := len(listener.conns); left != 0 {
			t.Errorf("the listener still has %d connections", left)
		}
	})
	c := conn.(*httpConn)
	c.header.pause() // these tests do not send headers
	return c, peer
}

// TestDeadlines checks that a blocked Read or Write ends when its deadline has passed,
// not before, and that the connection is usable again after another deadline is set.
func TestDeadlines(t *testing.T) {
	much := make([]byte, 64<<20) // more than the kernel buffers without a reader
	read := func(c net.Conn) error {
		_, err := c.Read(make([]byte, 1))
		return err
	}
	write := func(c net.Conn) error {
		_, err := c.Write(much)
		return err
	}
	for name, test := range map[string]struct {
		set func(net.Conn, time.Time) error
		do  func(net.Conn) error
	}{
		"reading":          {net.Conn.SetReadDeadline, read},
		"writing":          {net.Conn.SetWriteDeadline, write},
		"both, by reading": {net.Conn.SetDeadline, read},
		"both, by writing": {net.Conn.SetDeadline, write},
	} {
		t.Run(name, func(t *testing.T) {
			conn, peer := connected(t, soon)
			begin := time.Now()
			if err := test.set(conn, begin.Add(soon)); err != nil {
				t.Fatal(err)
			}
			if err := test.do(conn); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %v, want %v", err, os.ErrDeadlineExceeded)
			}
			if waited := time.Since(begin); waited < soon {
				t.Errorf("ended after %v, before the deadline", waited)
			}
			if err := test.do(conn); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("later: got %v, want %v", err, os.ErrDeadlineExceeded)
			}
			for _, next := range []time.Time{{}, time.Now().Add(time.Hour)} {
				if err := test.set(conn, next); err != nil {
					t.Fatal(err)
				}
				go func() { _, _ = io.Copy(io.Discard, peer) }()
				if _, err := peer.Write([]byte("x")); err != nil {
					t.Fatal(err)
				}
				if err := test.do(conn); err != nil {
					t.Errorf("with the deadline %v: %v", next, err)
				}
			}
		})
	}
}

// TestDeadlineMoved checks that a deadline that was moved in time interrupts nothing.
func TestDeadlineMoved(t *testing.T) {
	conn, peer := connected(t, soon)
	for _, next := range []time.Time{{}, time.Now().Add(time.Hour)} {
		if err := conn.SetDeadline(time.Now().Add(soon)); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(next); err != nil {
			t.Fatal(err)
		}
		read := make(chan error)
		go func() {
			_, err := conn.Read(make([]byte, 1))
			read <- err
		}()
		if _, err := conn.Write(make([]byte, 64<<20)); !errors.Is(err, os.ErrDeadlineExceeded) { // the first deadline of both has passed
			t.Fatal(err)
		}
		if _, err := peer.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := <-read; err != nil {
			t.Errorf("reading until %v: %v", next, err)
		}
	}
}

// TestSizeOfGroup checks that the listener counts its connections.
func TestSizeOfGroup(t *testing.T) {
	conn, _ := connected(t, time.Hour)
	if got := conn.listener.group.MaxYields(); got != 3 {
		t.Errorf("the only connection may yield %d times, want 3", got)
	}
}
