//go:build !linux

package server

import "net"

// limitNew does nothing: only Linux can let fewer connections in.
func limitNew(*net.TCPListener) {}

// acceptOrClose returns errClosing. Connections opened between the last Accept and
// the closing of the port are lost.
func acceptOrClose(*net.TCPListener) (*net.TCPConn, error) { return nil, errClosing }
