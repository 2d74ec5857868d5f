// Package clients tests the service as its users see it: published client libraries, the
// acceptance tests of package handler, attacks by web pages, and the switch from Flipt.
package clients

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
