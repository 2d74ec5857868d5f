// Package store measures the service with its databases: the cost of fresh reads, writes
// and long lists.
package store

import (
	"fmt"
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) {
	if database, ok := os.LookupEnv(asBareServer); ok {
		fmt.Fprintln(os.Stderr, runBareServer(database))
		os.Exit(1)
	}
	os.Exit(harness.Run(m))
}
