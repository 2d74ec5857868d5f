//go:build linux

package docs

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"testing"

	_ "github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// asForwarder is the name by which this program, in the shell of a page, passes connections
// to an address on to a Unix socket, which leads out of the page's network.
const asForwarder = "forward"

// forward passes connections on until the process is killed.
func forward(address, socket string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	for {
		inner, err := listener.Accept()
		if err != nil {
			return err
		}
		go func() {
			defer inner.Close()
			outer, err := net.Dial("unix", socket)
			if err != nil {
				return
			}
			defer outer.Close()
			go func() { _, _ = io.Copy(outer, inner) }()
			_, _ = io.Copy(inner, outer)
		}()
	}
}

// backing starts the servers that the page needs besides guidon, at the addresses that
// readers use.
func (p *page) backing(t *testing.T, s *session) error {
	t.Helper()
	started := map[string]bool{}
	for _, b := range p.blocks {
		server := b.markers["with"]
		if server == "" || started[server] {
			continue
		}
		started[server] = true
		var address, socket string
		switch server {
		case "PostgreSQL":
			address, socket = "127.0.0.1:5432", startPostgres(t)
		case "MariaDB":
			address, socket = "127.0.0.1:3306", startMariaDB(t)
		case "Redis":
			address, socket = "127.0.0.1:6379", filepath.Join(harness.OpenDir(t), "socket")
			harness.StartRedis(t, "--unixsocket", socket, "--unixsocketperm", "777")
		}
		if err := s.forward(address, socket); err != nil {
			return err
		}
	}
	return nil
}

// startPostgres starts a PostgreSQL with an empty database, guidon, and returns its socket.
func startPostgres(t *testing.T) string {
	t.Helper()
	server := harness.StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.Postgres(t.Context()) })
	db, err := pgx.Connect(t.Context(), server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(t.Context())
	if _, err := db.Exec(t.Context(), "CREATE DATABASE guidon"); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(server.Addr)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(server.Dir, ".s.PGSQL."+port)
}

// startMariaDB starts a MariaDB with an empty database, guidon, and returns its socket.
func startMariaDB(t *testing.T) string {
	t.Helper()
	server := harness.StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.MariaDB(t.Context()) })
	db, err := sql.Open("mysql", "root@tcp("+server.Addr+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE guidon CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(server.Dir, "socket")
}

// forward makes the socket the server at an address of the page's network.
func (s *session) forward(address, socket string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	_, _, err = s.run(fmt.Sprintf(`%s %q %q >>"$SCRATCH/server.log" 2>&1 </dev/null 3>&- &
until (: </dev/tcp/%s/%s) 2>"$SCRATCH/refused"; do
  kill -0 $!
  sleep 0.05
done
`, asForwarder, address, socket, host, port), 0)
	return err
}
