// Package lambda tests the function for AWS Lambda behind each of its fronts, and measures it next
// to an empty function.
package lambda

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
