// Package login tests signing in from outside: the real server, browsers and programs that
// break every rule, and providers that misbehave on command.
//
// Every server of the package is searched at its end for the secrets that its clients and
// providers have used: its log, metrics, change records and errors must contain none.
package login

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
