package dbtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// ErrNotInstalled is returned if the server's program is not installed.
var ErrNotInstalled = errors.New("not installed")

// Postgres initializes a cluster of the newest installed PostgreSQL and starts it. Each
// setting has the form "name=value". The superuser is postgres, without a password.
func Postgres(ctx context.Context, settings ...string) (*Server, error) {
	installed, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	if err != nil || len(installed) == 0 {
		return nil, fmt.Errorf("postgresql: %w", ErrNotInstalled)
	}
	bin := slices.Max(installed)
	s, err := newServer("postgres", "postgres", bin+"/postgres")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.Dir, "data")
	err = s.prepare(ctx, bin+"/initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// The tests kill the process, which loses no data even without fsync. But
	// synchronous_commit stays on, because otherwise a kill would lose commits.
	s.argv = []string{
		bin + "/postgres", "-D", data, "-k", s.Dir, "-p", s.port(), "-c", "listen_addresses=127.0.0.1",
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "shared_buffers=32MB", "-c", "log_min_messages=warning",
	}
	for _, setting := range settings {
		s.argv = append(s.argv, "-c", setting)
	}
	s.URL = "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"
	s.answers, s.shutdown = postgresAnswers, syscall.SIGINT
	return s.begin(ctx)
}

// PgBouncer starts a pooler in transaction mode with one connection for each database of
// upstream. This is the hardest case: no session state outlives a transaction.
func PgBouncer(ctx context.Context, upstream *Server) (*Server, error) {
	s, err := newServer("pgbouncer", "postgres", "pgbouncer")
	if err != nil {
		return nil, err
	}
	users := filepath.Join(s.Dir, "users")
	config := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = trust
auth_file = %s
pool_mode = transaction
default_pool_size = 1
max_client_conn = 500
`, upstream.port(), s.port(), users)
	file := filepath.Join(s.Dir, "pgbouncer.ini")
	err = errors.Join(s.write(users, "\"postgres\" \"\"\n"), s.write(file, config))
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.argv = []string{"pgbouncer", file}
	s.URL = "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable"
	s.answers = postgresAnswers
	return s.begin(ctx)
}

// MariaDB initializes a data directory and starts the server, with additional command-line
// flags. The superuser is root, without a password.
func MariaDB(ctx context.Context, flags ...string) (*Server, error) {
	s, err := newServer("mariadb", "mysql", "mariadbd")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.Dir, "data")
	err = s.prepare(ctx, "mariadb-install-db", "--no-defaults", "--datadir="+data,
		"--auth-root-authentication-method=normal", "--skip-test-db")
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	// 2 means to pass each commit to the operating system, where it outlives the process.
	s.argv = append([]string{
		"mariadbd", "--no-defaults", "--datadir=" + data, "--port=" + s.port(), "--bind-address=127.0.0.1",
		"--socket=" + filepath.Join(s.Dir, "socket"), "--pid-file=" + filepath.Join(s.Dir, "pid"), "--skip-name-resolve",
		"--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M",
	}, flags...)
	s.URL = "mysql://root@" + s.Addr + "/"
	s.answers = mysqlAnswers
	return s.begin(ctx)
}

// Redis starts a server that stores nothing on disk, with additional command-line flags.
func Redis(ctx context.Context, flags ...string) (*Server, error) {
	s, err := newServer("redis", "redis", "redis-server")
	if err != nil {
		return nil, err
	}
	s.argv = append([]string{
		"redis-server", "--port", s.port(), "--bind", "127.0.0.1", "--dir", s.Dir, "--save", "", "--appendonly", "no",
	}, flags...)
	s.URL = "redis://" + s.Addr
	s.answers = redisAnswers
	return s.begin(ctx)
}

// Sentinel starts a Redis Sentinel that monitors the primary under the name main.
func Sentinel(ctx context.Context, primary *Server) (*Server, error) {
	s, err := newServer("sentinel", "redis", "redis-server")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.Dir, "sentinel.conf") // Sentinel writes to it
	if err := s.write(file, "sentinel monitor main 127.0.0.1 "+primary.port()+" 1\n"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.argv = []string{"redis-server", file, "--sentinel", "--port", s.port(), "--bind", "127.0.0.1", "--dir", s.Dir}
	s.URL = "redis://" + s.Addr
	s.answers = redisAnswers
	return s.begin(ctx)
}

// begin starts the server for the first time.
func (s *Server) begin(ctx context.Context) (*Server, error) {
	if err := s.Restart(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// WriteFile writes a file that only the server can read, and returns its path.
func (s *Server) WriteFile(name, text string) (string, error) {
	path := filepath.Join(s.Dir, name)
	return path, s.write(path, text)
}

// write writes a file that only the server can read.
func (s *Server) write(file, text string) error {
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil || s.owner == nil {
		return err
	}
	return os.Chown(file, int(s.owner.Uid), int(s.owner.Gid))
}

// Database returns the URL of another database on the same server.
func (s *Server) Database(name string) string {
	u, err := url.Parse(s.URL)
	if err != nil {
		panic(err) // made by this package
	}
	u.Path = "/" + name
	return u.String()
}

// postgresAnswers sends a startup message. The response of a server that accepts clients
// starts with 'R'.
func postgresAnswers(c net.Conn) bool {
	const startup = "\x00\x00\x00\x29\x00\x03\x00\x00user\x00postgres\x00database\x00postgres\x00\x00"
	if _, err := io.WriteString(c, startup); err != nil {
		return false
	}
	var first [1]byte
	_, err := io.ReadFull(c, first[:])
	return err == nil && first[0] == 'R'
}

// mysqlAnswers reads the greeting, in which protocol version 10 follows a header of four
// bytes.
func mysqlAnswers(c net.Conn) bool {
	var greeting [5]byte
	_, err := io.ReadFull(c, greeting[:])
	return err == nil && greeting[4] == 10
}

func redisAnswers(c net.Conn) bool {
	if _, err := io.WriteString(c, "PING\r\n"); err != nil {
		return false
	}
	pong := make([]byte, len("+PONG"))
	_, err := io.ReadFull(c, pong)
	return err == nil && bytes.Equal(pong, []byte("+PONG"))
}
