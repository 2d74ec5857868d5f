//go:build !linux

package tcp

import "net"

// ignoreNew does nothing: only on Linux can an open port ignore new clients.
func ignoreNew(*net.TCPListener) {}

// acceptOrClose returns ErrClosing. Connections opened after the last Accept and before
// the port closes are lost.
func acceptOrClose(*net.TCPListener) (*net.TCPConn, error) { return nil, ErrClosing }
