// Package dbproc runs real database servers as private child processes of a
// test: a data folder and a loopback port of their own, no service of the system
// touched. They can be killed, frozen and restarted. It works as root, where a
// server runs as the user of its Debian package, and as anybody else.
package dbproc

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

// Server is one database server. Its methods may be called concurrently.
type Server struct {
	Addr string // 127.0.0.1:port, the same after Restart
	URL  string // of the service as a superuser, for this project's db.url
	Dir  string // data and log

	argv     []string
	owner    *syscall.Credential // nil: the user of this process
	answers  func(net.Conn) bool // tells whether the server speaks its protocol
	shutdown syscall.Signal      // ends it in its orderly way

	mu   sync.Mutex
	pid  int           // 0 when it does not run
	dead chan struct{} // closed when the process has ended
}

// newServer prepares the folder and finds a free port.
func newServer(kind, owner string) (*Server, error) {
	// Not the folder of a test: that one is closed to other users.
	dir, err := os.MkdirTemp("", "dbproc-"+kind+"-")
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

// FreePort returns a port of the loopback interface that nobody listens on.
func FreePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// own gives the folder to the user that the server runs as: PostgreSQL, MariaDB
// and PgBouncer refuse to be root.
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

// Restart starts the server on the same port and data, killing it first if it
// runs, and returns when it answers.
func (s *Server) Restart(ctx context.Context) error {
	s.Kill()
	dead, err := s.start()
	if err != nil {
		return err
	}
	// A server tells nobody when it is ready: asking is the only way to know.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !s.ready() {
		select {
		case <-dead:
			return fmt.Errorf("%s ended at its start:\n%s", s.argv[0], s.Log())
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer: %w\n%s", s.argv[0], ctx.Err(), s.Log())
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

// Stop ends the server in its orderly way, also while it is frozen.
func (s *Server) Stop() {
	s.Thaw()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pid != 0 {
		_ = syscall.Kill(s.pid, s.shutdown)
		s.reaped()
	}
}

// Kill ends the server with all of its processes at once, as a crash would.
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

// Freeze stops every process of the server: connections stay open, and nothing
// answers.
func (s *Server) Freeze() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal(syscall.SIGSTOP)
}

// Thaw lets a frozen server go on.
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
