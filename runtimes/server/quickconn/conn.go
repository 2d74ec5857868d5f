package quickconn

import (
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"time"
)

// Conn is a TCP connection of a [Group]. It embeds the TCP connection, because net/http
// checks for some of its methods. Call Init before any other method.
type Conn struct {
	*net.TCPConn
	group       *Group
	read, write deadline
	reads       atomic.Int32 // counts Reads, to choose those that yield

	// Guarded by read.mu:
	reading     int       // Reads in progress
	interrupted bool      // a deadline that interrupts them is set on the TCP connection
	simple      time.Time // the read deadline, if the package is disabled
}

// Init sets the TCP connection and the group.
func (c *Conn) Init(tcp *net.TCPConn, group *Group) { c.TCPConn, c.group = tcp, group }

// Read implements [net.Conn].
func (c *Conn) Read(b []byte) (int, error) {
	// net/http reads a single byte to detect that the client has disconnected.
	if Enabled && len(b) > 1 && c.reads.Add(1)%(c.group.MaxYields()+1) != 0 {
		runtime.Gosched()
	}
	if !c.beginRead() {
		return 0, os.ErrDeadlineExceeded
	}
	n, err := c.TCPConn.Read(b)
	c.endRead()
	return n, err
}

// beginRead reports whether a Read may start, and counts it if so. It may not if the
// deadline has passed.
func (c *Conn) beginRead() bool {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	if c.read.passed {
		return false
	}
	c.reading++
	return true
}

func (c *Conn) endRead() {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	c.reading--
}

// setRead passes the deadline on to the TCP connection if a Read is in progress, or if an
// earlier one must be cleared. A Read that starts later checks the deadline itself.
// c.read.mu must be held.
func (c *Conn) setRead(t time.Time) error {
	if passed := !t.IsZero(); passed && c.reading > 0 || !passed && c.interrupted {
		c.interrupted = passed
		return c.TCPConn.SetReadDeadline(t)
	}
	return nil
}

// SetReadDeadline implements [net.Conn].
func (c *Conn) SetReadDeadline(t time.Time) error {
	if Enabled {
		return c.read.set(c.group, t, c.setRead)
	}
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	c.simple = t
	return c.TCPConn.SetReadDeadline(t)
}

// SetWriteDeadline implements [net.Conn].
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if Enabled {
		return c.write.set(c.group, t, c.TCPConn.SetWriteDeadline)
	}
	return c.TCPConn.SetWriteDeadline(t)
}

// SetDeadline implements [net.Conn].
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// Sweep interrupts Reads and Writes whose deadline has passed at the time now, which
// [Group.BeginSweep] has returned.
func (c *Conn) Sweep(now int64) {
	c.read.expire(now, c.setRead)
	c.write.expire(now, c.TCPConn.SetWriteDeadline)
}

// InterruptRead makes a Read in progress fail with [os.ErrDeadlineExceeded], whatever the
// deadline is. It calls before first, and does neither if there is no such Read.
func (c *Conn) InterruptRead(before func()) {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	if c.reading > 0 {
		before()
		_ = c.TCPConn.SetReadDeadline(longAgo) // it fails if the connection is closed
	}
}

// ResumeReading undoes InterruptRead.
func (c *Conn) ResumeReading() {
	c.read.mu.Lock()
	defer c.read.mu.Unlock()
	if !c.interrupted {
		_ = c.TCPConn.SetReadDeadline(c.simple) // it fails if the connection is closed
	}
}
