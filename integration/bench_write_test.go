package integration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// creation is one way of creating flags, and how many connections do the bare
// transactions that it is held against.
type creation struct {
	clients     int
	namespaces  int // of which each client has one
	connections int
}

// BenchmarkCreateFlag creates flags over HTTP and, in turns in one run, does bare
// transactions of one row of the same size through the same driver on the same
// server: begin, insert, commit. It reports how many of each there were in a
// second, and their ratio. A second bare figure has the INSERT alone, which
// commits itself. The servers wait for the disk at every commit; their data and
// the SQLite file are in the folder for temporary files.
//
// The writes of a namespace take turns, so one connection is what they are held
// against. One client alone also pays for what others do side by side.
func BenchmarkCreateFlag(b *testing.B) {
	one := creation{clients: 4, namespaces: 1, connections: 1}
	alone := creation{clients: 1, namespaces: 1, connections: 1}
	many := creation{clients: 16, namespaces: 16, connections: 16}

	b.Run("sqlite", func(b *testing.B) {
		b.Run("one_namespace", func(b *testing.B) { one.run(b, sqliteURL(b), sqliteURL(b)) })
		b.Run("one_client", func(b *testing.B) { alone.run(b, sqliteURL(b), sqliteURL(b)) })
	})
	eachDurable(b, func(b *testing.B, s *databaseServer) {
		b.Run("one_namespace", func(b *testing.B) { one.run(b, s.migrated(b), s.empty(b)) })
		b.Run("one_client", func(b *testing.B) {
			alone.run(b, s.migrated(b), s.empty(b))
			reportRoundTrips(b, s)
		})
		b.Run("sixteen_namespaces", func(b *testing.B) { many.run(b, s.migrated(b), s.empty(b)) })
	})
}

// One round of the benchmark is so many turns of each kind, short ones, so that
// what else the machine does hits all of them.
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
	b.ReportMetric(0, "ns/op") // of a round, which says nothing
}

// throughput counts writes and the time that they took.
type throughput struct {
	writes int64
	took   time.Duration
}

func (t *throughput) perSecond() float64 { return float64(t.writes) / t.took.Seconds() }

// turn lets the callers write side by side, one write after the other, until the
// turn is over, and waits for what is under way then.
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

// flagCreator creates flags over HTTP, every caller in its namespace and on a
// connection of its own. What it does itself is next to nothing, since on a small
// machine the generator of a load takes its time from those who carry it.
type flagCreator struct {
	server  *server
	paths   []string // of the lists of flags, by namespace
	callers []*httpConn
	next    atomic.Int64
}

func newFlagCreator(b *testing.B, database string, clients, namespaces int) *flagCreator {
	c := &flagCreator{server: startQuietly(b, database)}
	for i := range namespaces {
		key := fmt.Sprint("namespace-", i)
		c.server.must(b, "POST", "/api/v1/namespaces", map[string]any{"key": key, "name": "Namespace"}, nil)
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

// storedBody returns what the database holds of one of its flags.
func storedBody(b *testing.B, database string) string {
	b.Helper()
	var body string
	err := openStore(b, database).SQL().QueryRowContext(b.Context(), "SELECT body FROM flags LIMIT 1").Scan(&body)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// bareWriter writes rows of one table without anything of this project in
// between but the settings of the connections.
type bareWriter struct {
	conns  []*sql.Conn
	insert string
	body   string
	next   atomic.Int64
}

func newBareWriter(b *testing.B, database string, connections int, body string) *bareWriter {
	b.Helper()
	db := openStore(b, database)
	w := &bareWriter{insert: "INSERT INTO bare (flag_key, body) VALUES (?, ?)", body: body}
	if db.Dialect() == "postgres" {
		w.insert = "INSERT INTO bare (flag_key, body) VALUES ($1, $2)"
	}
	execute(b, db.SQL(), "CREATE TABLE bare (flag_key VARCHAR(255) NOT NULL PRIMARY KEY, body TEXT NOT NULL)")
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

// No context that may end comes with the bare statements, which would cost the
// drivers something.

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

// reportRoundTrips counts how often the server asks the database to create one
// flag; nothing is reported where no proxy can look into the connection.
func reportRoundTrips(b *testing.B, s *databaseServer) {
	if s.private == nil {
		return
	}
	const writes = 20
	w, through := newWire(b, s, s.migrated(b))
	creator := newFlagCreator(b, through, 1, 1)
	creator.mustCreate(b) // makes the connections
	var trips atomic.Int64
	w.inflict(func(request) fault {
		trips.Add(1)
		return pass
	})
	for range writes {
		creator.mustCreate(b)
	}
	b.ReportMetric(float64(trips.Load())/writes, "trips/write")
}
