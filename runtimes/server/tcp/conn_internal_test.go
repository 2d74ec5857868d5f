package tcp

import (
	"errors"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// connected returns both ends of a connection that is never swept.
func connected(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	peer, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := &Conn{}
	c.Init(accepted.(*net.TCPConn), NewGroup())
	t.Cleanup(func() { _, _ = c.Close(), peer.Close() })
	return c, peer
}

// TestDeadlineInThePast checks that it immediately interrupts a blocked Read. That is how
// net/http takes a connection back from the goroutine that reads ahead.
func TestDeadlineInThePast(t *testing.T) {
	conn, _ := connected(t)
	ended := make(chan error)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		ended <- err
	}()
	for reading(conn) == 0 {
		runtime.Gosched()
	}
	if err := conn.SetReadDeadline(longAgo); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want %v", err, os.ErrDeadlineExceeded)
	}
	if got := reading(conn); got != 0 {
		t.Errorf("%d Reads are in progress, want none", got)
	}
}

// reading returns how many Reads of the connection are in progress.
func reading(c *Conn) int {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	return c.reading
}

// TestDeadlineBeforeReading checks that a Read detects a deadline that has passed before
// it starts, and leaves the input to the next one.
func TestDeadlineBeforeReading(t *testing.T) {
	conn, peer := connected(t)
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 8)
	for range maxConnYields + 1 {
		if err := conn.SetReadDeadline(longAgo); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(buffer); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %d bytes, error %v, want none, %v", n, err, os.ErrDeadlineExceeded)
		}
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(buffer); n != 1 || err != nil {
		t.Errorf("got %d bytes, error %v, want 1 byte", n, err)
	}
}

// TestMaxYields checks that few Reads yield before the runtime polls for other input,
// however many connections there are.
func TestMaxYields(t *testing.T) {
	for connections, want := range map[int]int32{0: 3, 1: 3, 32: 3, 85: 3, 86: 2, 128: 2, 129: 1, 256: 1, 257: 0, 100_000: 0} {
		if got := maxYields(connections); got != want {
			t.Errorf("with %d connections one may yield %d times, want %d", connections, got, want)
		}
	}
	conn, _ := connected(t)
	conn.group.SetSize(1)
	if got, want := conn.group.MaxYields(), maxYields(1); got != want {
		t.Errorf("the only connection may yield %d times, want %d", got, want)
	}
}

// TestInterruptRead checks that InterruptRead ends a Read in progress, and that the next
// one after ResumeReading reads.
func TestInterruptRead(t *testing.T) {
	conn, peer := connected(t)
	conn.InterruptRead(func() { t.Error("called although there is no Read") })
	ended := make(chan error)
	go func() {
		_, err := conn.Read(make([]byte, 8))
		ended <- err
	}()
	for reading(conn) == 0 {
		runtime.Gosched()
	}
	called := false
	conn.InterruptRead(func() { called = true })
	if err := <-ended; !called || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("called %t, got %v, want true and %v", called, err, os.ErrDeadlineExceeded)
	}
	conn.ResumeReading()
	if _, err := peer.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 8)); n != 1 || err != nil {
		t.Errorf("got %d bytes, error %v, want 1 byte", n, err)
	}
}
