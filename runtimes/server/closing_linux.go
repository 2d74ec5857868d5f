package server

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// limitNew stops the kernel from completing further connections while one waits to be
// accepted. The kernel ignores clients that connect in the meantime. They retry after a
// second, when the port is closed.
func limitNew(listener *net.TCPListener) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { // it fails if the listener is closed
		_ = syscall.Listen(int(fd), 0) // #nosec G115 -- a file descriptor
	})
}

// acceptOrClose returns a connection that waits to be accepted. If there is none, it
// closes the port immediately, so that no other one can arrive in between, and returns
// errClosing.
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
			failure = errors.Join(errClosing, syscall.Shutdown(int(fd), syscall.SHUT_RD)) // #nosec G115 -- the same
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
