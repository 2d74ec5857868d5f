// Package release tests the files of a release as its users get them: archives and packages are
// built, installed in a root directory of their own, used, upgraded and removed. It also tests the
// container image and the compose file, which requires Docker, and the size of the program.
package release

import (
	"os"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Run(m)) }
