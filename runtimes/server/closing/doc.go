// Package closing has a TCP listener that can be closed without losing connections.
//
// The kernel completes connections before a server accepts them. If a listener is simply
// closed, the kernel resets those that wait, and their clients lose the requests that they
// have sent. On Linux, a closing [Listener] makes the kernel ignore clients that begin to
// connect, by a filter on its socket, accepts those that have connected, and closes the port
// when none is left. On other systems, connections opened after the last Accept are lost.
package closing
