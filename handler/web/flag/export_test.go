package flag

import (
	"testing"

	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// AskEverywhere makes all namespaces of servers that are started later ask before changes.
func AskEverywhere(t *testing.T) {
	before := asks
	asks = func(*flipt.Namespace) bool { return true }
	t.Cleanup(func() { asks = before })
}
