package tcp

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// TestListener connects to a listener before and after it starts to close. It must
// accept the first client and ignore the second one.
func TestListener(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		t.Run(address, func(t *testing.T) { testClosing(t, address) })
	}
}

func testClosing(t *testing.T, address string) {
	var config net.ListenConfig
	config.SetMultipathTCP(false)
	tcp, err := config.Listen(t.Context(), "tcp", address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
		t.Skip("this machine has no IPv6")
	}
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp.(*net.TCPListener))
	t.Cleanup(func() { _ = l.Close() })
	dialer := net.Dialer{Timeout: pendingWait / 2}
	waiting, err := dialer.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = waiting.Close() }()

	l.StartClosing()
	accepted, err := l.AcceptTCP()
	if err != nil {
		t.Fatalf("the client that connected before: %v", err)
	}
	_ = accepted.Close()
	var timeout net.Error
	if _, err := dialer.Dial("tcp", l.Addr().String()); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("connecting to a closing listener: error %v, want a timeout", err)
	}
	if _, err := l.AcceptTCP(); !errors.Is(err, ErrClosing) {
		t.Errorf("got %v, want ErrClosing", err)
	}
	if _, err := dialer.Dial("tcp", l.Addr().String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connecting to a closed listener: error %v, want a refusal", err)
	}
}
