package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// creation is a way of creating flags, and the number of connections for the bare
// transactions that it is compared with.
type creation struct {
	clients     int
	namespaces  int // each client uses one of them
	connections int
}

// BenchmarkCreateFlag creates flags over HTTP. Alternately, it makes bare transactions
// with one row of the same size through the same driver on the same server: begin,
// insert, commit. It reports the rates of both, and their ratio. It also reports the rate
// of a bare INSERT with autocommit. The servers wait for the disk at every commit; their
// data and the SQLite file are in the directory for temporary files.
//
// The writes of a namespace are serialized, so they are compared with one connection. A
// single client has no others to overlap its waiting with.
func BenchmarkCreateFlag(b *testing.B) {
	one := creation{clients: 4, namespaces: 1, connections: 1}
	alone := creation{clients: 1, namespaces: 1, connections: 1}
	many := creation{clients: 16, namespaces: 16, connections: 16}

	b.Run("sqlite", func(b *testing.B) {
		b.Run("one_namespace", func(b *testing.B) { one.run(b, harness.SQLiteURL(b), harness.SQLiteURL(b)) })
		b.Run("one_client", func(b *testing.B) { alone.run(b, harness.SQLiteURL(b), harness.SQLiteURL(b)) })
	})
	eachDurable(b, func(b *testing.B, s *harness.DatabaseServer) {
		b.Run("one_namespace", func(b *testing.B) { one.run(b, s.Migrated(b), s.Empty(b)) })
		b.Run("one_client", func(b *testing.B) {
			alone.run(b, s.Migrated(b), s.Empty(b))
			reportRoundTrips(b, s)
		})
		b.Run("sixteen_namespaces", func(b *testing.B) { many.run(b, s.Migrated(b), s.Empty(b)) })
	})
}

// An iteration of the benchmark consists of several short turns of each kind, so that
// other load of the machine affects all kinds.
const (
	turns      = 4
	turnLength = 250 * time.Millisecond
)

// run measures with one database for the server and one for the bare rows.
func (c creation) run(b *testing.B, served, empty string) {
	creator := newFlagCreator(b, served, c.clients, c.namespaces)
	creator.mustCreate(b)
	bare := newBareWriter(b, empty, c.connections, storedBody(b, served))

	var overHTTP, transactions, autocommit throughput
	round := func() {
		transactions.turn(b, c.connections, bare.transaction)
		overHTTP.turn(b, c.clients, creator.create)
		autocommit.turn(b, c.connections, bare.autocommit)
	}
	round() // opens every connection
	overHTTP, transactions, autocommit = throughput{}, throughput{}, throughput{}
	for b.Loop() {
		for range turns {
			round()
		}
	}
	b.ReportMetric(overHTTP.perSecond(), "http/s")
	b.ReportMetric(transactions.perSecond(), "bare/s")
	b.ReportMetric(overHTTP.perSecond()/transactions.perSecond(), "ratio")
	b.ReportMetric(autocommit.perSecond(), "autocommit/s")
	b.ReportMetric(overHTTP.perSecond()/autocommit.perSecond(), "of-autocommit")
	b.ReportMetric(0, "ns/op") // of a round, which is meaningless
}

// throughput counts writes and the time that they took.
type throughput struct {
	writes int64
	took   time.Duration
}

func (t *throughput) perSecond() float64 { return float64(t.writes) / t.took.Seconds() }

// turn makes consecutive writes with concurrent callers until the turn is over, and waits
// for those that are in progress then.
func (t *throughput) turn(b *testing.B, callers int, write func(caller int) error) {
	var writes atomic.Int64
	var writing sync.WaitGroup
	begin := time.Now()
	for caller := range callers {
		writing.Go(func() {
			for time.Since(begin) < turnLength {
				if err := write(caller); err != nil {
					b.Error(err)
					return
				}
				writes.Add(1)
			}
		})
	}
	writing.Wait()
	t.took += time.Since(begin)
	t.writes += writes.Load()
	if b.Failed() {
		b.FailNow()
	}
}

// flagCreator creates flags over HTTP. Each caller has its own connection. It does as
// little as possible, because on a small machine a load generator takes CPU time from
// the server that it measures.
type flagCreator struct {
	server  *harness.Server
	paths   []string // of the lists of flags, by namespace
	callers []*httpConn
	next    atomic.Int64
}

func newFlagCreator(b *testing.B, database string, clients, namespaces int) *flagCreator {
	c := &flagCreator{server: startQuietly(b, database)}
	for i := range namespaces {
		key := fmt.Sprint("namespace-", i)
		c.server.Must(b, "POST", "/api/v1/namespaces", map[string]any{"key": key, "name": "Namespace"}, nil)
		c.paths = append(c.paths, "/api/v1/namespaces/"+key+"/flags")
	}
	for range clients {
		c.callers = append(c.callers, dialHTTP(b, c.server))
	}
	return c
}

func (c *flagCreator) create(caller int) error {
	return c.callers[caller].post(c.paths[caller%len(c.paths)], fmt.Sprintf(
		`{"key": "flag-%08d", "name": "Flag", "description": "What the flag is for", "enabled": true}`, c.next.Add(1)))
}

func (c *flagCreator) mustCreate(b *testing.B) {
	b.Helper()
	if err := c.create(0); err != nil {
		b.Fatal(err)
	}
}

// storedBody returns the stored form of a flag in the database.
func storedBody(b *testing.B, database string) string {
	b.Helper()
	var body string
	err := harness.OpenStore(b, database).SQL().QueryRowContext(b.Context(), "SELECT body FROM flags LIMIT 1").Scan(&body)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// bareWriter inserts rows into a table. It uses nothing of this project but the settings
// of the connections.
type bareWriter struct {
	conns  []*sql.Conn
	insert string
	body   string
	next   atomic.Int64
}

func newBareWriter(b *testing.B, database string, connections int, body string) *bareWriter {
	b.Helper()
	db := harness.OpenStore(b, database)
	w := &bareWriter{insert: "INSERT INTO bare (flag_key, body) VALUES (?, ?)", body: body}
	if db.Dialect() == "postgres" {
		w.insert = "INSERT INTO bare (flag_key, body) VALUES ($1, $2)"
	}
	const create = "CREATE TABLE bare (flag_key VARCHAR(255) NOT NULL PRIMARY KEY, body TEXT NOT NULL)"
	if _, err := db.SQL().ExecContext(b.Context(), create); err != nil {
		b.Fatal(err)
	}
	for range connections {
		conn, err := db.SQL().Conn(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		w.conns = append(w.conns, conn)
	}
	return w
}

// The bare statements have a context that cannot end, because watching one would cost the
// drivers time.

func (w *bareWriter) transaction(caller int) error {
	tx, err := w.conns[caller].BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(w.insert, w.key(), w.body); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

func (w *bareWriter) autocommit(caller int) error {
	_, err := w.conns[caller].ExecContext(context.Background(), w.insert, w.key(), w.body)
	return err
}

func (w *bareWriter) key() string { return fmt.Sprintf("flag-%08d", w.next.Add(1)) }

// reportRoundTrips reports the number of round trips to the database for the creation of
// one flag. It reports nothing if the server is not private, as the proxy cannot decode
// its connections.
func reportRoundTrips(b *testing.B, s *harness.DatabaseServer) {
	if s.Private == nil {
		return
	}
	const writes = 20
	w, through := dbtest.NewProxy(b, s.Migrated(b))
	creator := newFlagCreator(b, through, 1, 1)
	creator.mustCreate(b) // makes the connections
	var trips atomic.Int64
	w.Inflict(func(dbtest.Request) dbtest.Fault {
		trips.Add(1)
		return dbtest.Pass
	})
	for range writes {
		creator.mustCreate(b)
	}
	b.ReportMetric(float64(trips.Load())/writes, "trips/write")
}
