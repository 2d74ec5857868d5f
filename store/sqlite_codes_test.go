package store

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// The constants must have the values of SQLite.
func TestSQLiteCodes(t *testing.T) {
	for got, want := range map[int]int{
		sqliteBusy: sqlite3.SQLITE_BUSY, sqliteLocked: sqlite3.SQLITE_LOCKED, sqliteReadOnly: sqlite3.SQLITE_READONLY,
		sqliteIOErr: sqlite3.SQLITE_IOERR, sqliteFull: sqlite3.SQLITE_FULL, sqliteCantOpen: sqlite3.SQLITE_CANTOPEN,
		sqliteNoLFS: sqlite3.SQLITE_NOLFS, sqliteCorrupt: sqlite3.SQLITE_CORRUPT, sqliteNotADB: sqlite3.SQLITE_NOTADB,
		sqliteConstraintPrimaryKey: sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqliteConstraintUnique: sqlite3.SQLITE_CONSTRAINT_UNIQUE,
	} {
		if got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}
