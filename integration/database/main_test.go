// Package database tests the store, its schema and the commands on databases: PostgreSQL,
// MariaDB, MySQL and SQLite files, also over connections that fail.
package database

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
