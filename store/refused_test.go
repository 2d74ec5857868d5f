package store_test

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/store"
)

// serveRefusal answers every connection with what refuse writes, and returns the address.
func serveRefusal(t *testing.T, refuse func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				refuse(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// postgresRefusal is how a PostgreSQL server ends a connection.
func postgresRefusal(code, message string) func(net.Conn) {
	return func(conn net.Conn) {
		var length uint32
		if binary.Read(conn, binary.BigEndian, &length) != nil {
			return
		}
		_, _ = io.CopyN(io.Discard, conn, int64(length)-4)
		body := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(body)+4)), body...)) // #nosec G115 -- short
	}
}

// mysqlRefusal is how a MySQL server ends a connection.
func mysqlRefusal(number uint16, message string) func(net.Conn) {
	return func(conn net.Conn) {
		body := append(binary.LittleEndian.AppendUint16([]byte{0xff}, number), "#28000"+message...)
		_, _ = conn.Write(append([]byte{byte(len(body)), 0, 0, 0}, body...)) // #nosec G115 -- short
	}
}

// TestWaitReadyRefused: a server that rejects the connection is not asked again; one that is
// starting is.
func TestWaitReadyRefused(t *testing.T) {
	for _, test := range []struct {
		name, url string
		refuse    func(net.Conn)
		waits     bool
		want      string
	}{
		{"PostgreSQL: password", "postgres://u:p@ADDRESS/flags?sslmode=disable", postgresRefusal("28P01", "password authentication failed"), false, "password authentication failed"},
		{"PostgreSQL: database", "postgres://u:p@ADDRESS/flags?sslmode=disable", postgresRefusal("3D000", "database does not exist"), false, "database does not exist"},
		{"PostgreSQL: TLS", "postgres://u:p@ADDRESS/flags?sslmode=require", func(c net.Conn) { _, _ = c.Read(make([]byte, 8)); _, _ = c.Write([]byte("N")) }, false, "server refused TLS connection"},
		{"PostgreSQL: starting", "postgres://u:p@ADDRESS/flags?sslmode=disable", postgresRefusal("57P03", "the database system is starting up"), true, "starting up"},
		{"MySQL: password", "mysql://u:p@ADDRESS/flags", mysqlRefusal(1045, "Access denied for user"), false, "Access denied for user"},
		{"MySQL: database", "mysql://u:p@ADDRESS/flags", mysqlRefusal(1049, "Unknown database"), false, "Unknown database"},
		{"MySQL: blocked", "mysql://u:p@ADDRESS/flags", mysqlRefusal(1129, "Host is blocked"), true, "Host is blocked"},
	} {
		t.Run(test.name, func(t *testing.T) {
			db, err := store.Open(t.Context(), strings.ReplaceAll(test.url, "ADDRESS", serveRefusal(t, test.refuse)), store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			timeout, attempts := time.Minute, 0
			if test.waits {
				timeout = 400 * time.Millisecond
			}
			err = db.WaitReady(t.Context(), time.Now().Add(timeout), func(error, time.Duration) { attempts++ })
			wantUnavailable(t, "in the end", err)
			if err == nil || !strings.Contains(err.Error(), test.want) || (attempts > 0) != test.waits {
				t.Errorf("got error %v after %d more attempts, want one with %q, and waiting %t", err, attempts, test.want, test.waits)
			}
			if strings.Count(err.Error(), "cannot be reached") > 1 {
				t.Errorf("got %q, which says the same twice", err)
			}
		})
	}
}
