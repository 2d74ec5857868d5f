// Package image tests the container image and the compose file, which requires Docker, and the
// size of the program.
package image

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
