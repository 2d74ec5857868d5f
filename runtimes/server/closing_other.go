//go:build !linux

package server

import "net"

// limitNew does nothing: only Linux can shorten the accept queue of an open port.
func limitNew(*net.TCPListener) {}

// acceptOrClose returns errClosing. Connections opened after the last Accept and before
// the port closes are lost.
func acceptOrClose(*net.TCPListener) (*net.TCPConn, error) { return nil, errClosing }
