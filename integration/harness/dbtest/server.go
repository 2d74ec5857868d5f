// Package dbtest runs real database servers as private child processes of a test. Each has
// its own data directory and loopback port and is independent of the system's services. The
// servers can be killed, frozen and restarted. The package works for any user; for root, a
// server runs as the user of its Debian package.
//
// A [Proxy] between a program and its database inflicts faults on their connections.
package dbtest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Server is a database server. Its methods are safe for concurrent use.
type Server struct {
	Addr string // 127.0.0.1:port, the same after Restart
	URL  string // with a superuser, in the form of this project's db.url
	Dir  string // data and log

	argv     []string
	owner    *syscall.Credential // nil means the user of this process
	answers  func(net.Conn) bool // reports whether the server speaks its protocol
	shutdown syscall.Signal      // for a graceful shutdown

	mu   sync.Mutex
	pid  int           // 0 if it does not run
	dead chan struct{} // closed when the process has ended
}

// newServer prepares the directory for the program and finds a free port.
func newServer(kind, owner, program string) (*Server, error) {
	if _, err := exec.LookPath(program); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, ErrNotInstalled)
	}
	// Not the directory of a test, which other users cannot read.
	dir, err := os.MkdirTemp("", "dbtest-"+kind+"-")
	if err != nil {
		return nil, err
	}
	s := &Server{Dir: dir, shutdown: syscall.SIGTERM}
	if err := s.own(owner); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	port, err := FreePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s.Addr = net.JoinHostPort("127.0.0.1", port)
	return s, nil
}

// FreePort returns a free port of the loopback interface.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// own changes the owner of the directory to the user that the server runs as. PostgreSQL,
// MariaDB and PgBouncer refuse to run as root.
func (s *Server) own(name string) error {
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return err
	}
	s.owner = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return os.Chown(s.Dir, int(uid), int(gid))
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

func (s *Server) command(ctx context.Context, argv ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...) // #nosec G204 -- the programs of a database server, named here
	c.Dir = s.Dir
	c.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=" + s.Dir}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: s.owner}
	return c
}

// prepare runs a program to its end.
func (s *Server) prepare(ctx context.Context, argv ...string) error {
	if out, err := s.command(ctx, argv...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, out)
	}
	return nil
}

// Log returns what the server has logged.
func (s *Server) Log() string {
	text, err := os.ReadFile(filepath.Join(s.Dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Restart starts the server with the same port and data, killing it first if it runs, and
// returns when it responds.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	dead, err := s.start()
	if err != nil {
		return err
	}
	// Servers do not signal when they are ready, so this polls.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !s.ready() {
		select {
		case <-dead:
			return fmt.Errorf("%s ended during its start:\n%s", s.argv[0], s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not respond: %w\n%s", s.argv[0], ctx.Err(), s.Log())
		case <-again.C:
		}
	}
	return nil
}

func (s *Server) ready() bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	return c.SetDeadline(time.Now().Add(time.Second)) == nil && s.answers(c)
}

// Stop shuts the server down gracefully, even if it is frozen.
func (s *Server) Stop() {
	s.Thaw()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid != 0 {
		_ = syscall.Kill(s.pid, s.shutdown)
		s.reaped()
	}
}

// Kill kills all processes of the server, as in a crash. It does nothing if the server does
// not run.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid != 0 {
		s.kill()
		s.reaped()
	}
}

func (s *Server) reaped() {
	<-s.dead
	s.pid = 0
}

// Freeze suspends all processes of the server and waits until all of their threads are
// stopped. Connections stay open, but it does not respond.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	await(s.signal(syscall.SIGSTOP), stopped)
}

// Thaw resumes a frozen server.
func (s *Server) Thaw() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal(syscall.SIGCONT)
}

// Close kills the server and removes its data.
func (s *Server) Close() error {
	s.Kill()
	return os.RemoveAll(s.Dir)
}
