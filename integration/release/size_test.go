package release

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestProgramSize: the program, which is most of the image, stays small. It exceeds the bound
// by far if the linker has to keep all methods, because templates are executed somewhere.
func TestProgramSize(t *testing.T) {
	const bound = 56 << 20
	path := filepath.Join(t.TempDir(), "guidon")
	if err := harness.BuildProgram(path, "GOOS=linux", "GOARCH=amd64"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() >= bound {
		t.Errorf("the program is %d bytes, want less than %d", info.Size(), bound)
	}
}
