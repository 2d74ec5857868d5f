// Package cluster tests servers as processes: several on one database, with and without
// Redis, while any of them is killed, frozen, restarted or flooded.
package cluster

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
