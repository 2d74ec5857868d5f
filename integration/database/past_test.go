package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// The namespace of [TestPastRows]. Its flags change in turn, one in each revision.
const (
	pastFlags   = 500
	pastRecords = 20_000
)

// TestPastRows: how many rows a server reads for an earlier state depends on the objects
// that have changed since, and not on the number of change records, whether the server has
// statistics of the tables or not.
func TestPastRows(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		database := s.Migrated(t)
		writer := harness.OpenStore(t, database)
		last := writeTurns(t, writer)
		reader, err := store.Open(t.Context(), database, store.Options{MaxOpenConns: 1}) // so that all reads are of one session
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reader.Close() })
		current, err := reader.Load(t.Context(), "default", nil)
		if err != nil {
			t.Fatal(err)
		}
		wantFewRows := func(t *testing.T) {
			for _, since := range []int64{100, pastRecords} {
				for _, at := range []service.Moment{{Revision: last - since}, {Time: harness.TimeOf(t, writer, last-since)}} {
					before := rowsRead(t, reader.Reader(), s)
					shot, err := reader.LoadAt(t.Context(), "default", at, current, nil)
					if err != nil || shot.Revision().Number != last-since || len(shot.Flags()) != pastFlags {
						t.Fatalf("%v: got %v, %v", at, shot, err)
					}
					read, limit := rowsRead(t, reader.Reader(), s)-before, 5*min(since, pastFlags)+3000
					if read > limit {
						t.Errorf("the state at %v, %d records ago: read %d rows, want at most %d", at, since, read, limit)
					}
				}
			}
		}
		t.Run("without statistics", wantFewRows)
		harness.Execute(t, writer.SQL(), map[bool]string{true: "ANALYZE", false: "ANALYZE TABLE changes, flags"}[s.IsPostgres()])
		t.Run("with statistics", wantFewRows)
	})
}

// writeTurns creates the flags, and then their change records. It returns the last revision.
func writeTurns(t *testing.T, db *store.DB) int64 {
	t.Helper()
	last, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
		for i := range int64(pastFlags) {
			if err := tx.PutFlag(ctx, &guidon.Flag{Key: flagInTurn(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	begun := harness.TimeOf(t, db, last).UnixMicro()
	for range pastRecords / 500 {
		var rows []string
		for range 500 {
			last++
			body := fmt.Sprintf(`{"key":"%s"}`, flagInTurn(last))
			rows = append(rows, fmt.Sprintf("('default', %d, 0, %d, 'flag', '%s', 'update', '', '', '', %d, '', %d, '%s', '%s')",
				last, last, flagInTurn(last), begun+last, 2*len(body), body, body))
		}
		harness.Execute(t, db.SQL(), `INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name, actor_method,
			happened_at, request_id, body_size, before_body, after_body) VALUES `+strings.Join(rows, ", "))
	}
	for revision := last; revision > last-pastFlags; revision-- {
		harness.Execute(t, db.SQL(), fmt.Sprintf("UPDATE flags SET changed_rev = %d WHERE namespace_key = 'default' AND flag_key = '%s'", revision, flagInTurn(revision)))
	}
	harness.Execute(t, db.SQL(), fmt.Sprintf("UPDATE namespaces SET revision = %d, stamp = %d WHERE namespace_key = 'default'", last, last))
	return last
}

func flagInTurn(revision int64) string { return fmt.Sprintf("flag-%03d", revision%pastFlags) }

// rowsRead returns how many rows have been read so far: by the session of the pool, which
// must have only one, or on PostgreSQL by all sessions of the database.
func rowsRead(t *testing.T, db *sql.DB, s *harness.DatabaseServer) (count int64) {
	t.Helper()
	if !s.IsPostgres() {
		for _, status := range texts(t, db, "SHOW SESSION STATUS LIKE 'Handler_read%'") {
			var n int64
			if _, err := fmt.Sscan(status[1], &n); err != nil {
				t.Fatal(err)
			}
			count += n
		}
		return count
	}
	harness.Execute(t, db, "SELECT pg_stat_force_next_flush()") // adds what this session has counted
	err := db.QueryRowContext(t.Context(), `SELECT (SELECT SUM(seq_tup_read) FROM pg_stat_user_tables) + (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes)`).Scan(&count)
	if err != nil {
		t.Fatal(err)
	}
	return count
}
