package tcp

import (
	"errors"
	"math"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ignoreSYN is a filter for the segments that a listening socket receives: it drops those
// that begin a connection (SYN without ACK) and passes all others. The flags are in byte
// 13 of the TCP header.
var ignoreSYN = [...]unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 13},
	{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: 0x12}, // SYN and ACK
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: 0x02},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
	{Code: unix.BPF_RET | unix.BPF_K, K: math.MaxUint32}, // all of the segment
}

// ignoreNew makes the kernel ignore clients that begin to connect, while handshakes that
// have begun complete. These clients try again after a second, when the port is closed.
// If the kernel has no such filters, it lets only one connection wait instead.
func ignoreNew(listener *net.TCPListener) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return
	}
	filter := ignoreSYN
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_ = raw.Control(func(fd uintptr) { // it fails if the listener is closed
		if unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program) != nil { // #nosec G115 -- a file descriptor
			_ = syscall.Listen(int(fd), 0) // #nosec G115 -- the same
		}
	})
}

// acceptOrClose returns a connection that waits to be accepted. If there is none, it
// closes the port immediately, so that no other one can arrive in between, and returns
// ErrClosing.
func acceptOrClose(listener *net.TCPListener) (*net.TCPConn, error) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return nil, err
	}
	var accepted int
	var failure error
	err = raw.Control(func(fd uintptr) {
		accepted, _, failure = syscall.Accept4(int(fd), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC) // #nosec G115 -- a file descriptor
		if failure == syscall.EAGAIN {
			failure = errors.Join(ErrClosing, syscall.Shutdown(int(fd), syscall.SHUT_RD)) // #nosec G115 -- the same
		}
	})
	if err := errors.Join(err, failure); err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(accepted), "") // #nosec G115 -- a file descriptor
	defer func() { _ = file.Close() }()       // the connection has a duplicate
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil // the listener is TCP
}
