package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/harness"
)

// The commit that the releases of these tests claim to be made from.
const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	epoch  = "1790000000" // 2026-09-21T14:13:20Z
)

// built is a release for the platform of this machine.
type built struct{ folder, number string }

// path returns the path of a file by what follows the name of the platform.
func (b built) path(suffix string) string {
	return filepath.Join(b.folder, "guidon_"+b.number+"_linux_"+runtime.GOARCH+suffix)
}

// build makes a release from the source in the folder. The command is run by the words in
// front, with additional environment variables.
func build(t *testing.T, source, number string, front, environ []string) built {
	t.Helper()
	if runtime.GOOS != "linux" {
		harness.Skip(t, "packages are built for this machine, which must run Linux")
	}
	folder := filepath.Join(t.TempDir(), "dist")
	words := append(front, "make", "-s", "-C", source, "dist", "DIST="+folder, "PLATFORMS=linux/"+runtime.GOARCH,
		"VERSION=v"+number, "COMMIT="+commit, "SOURCE_DATE_EPOCH="+epoch)
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), environ...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("make dist: %v\n%s", err, out)
	}
	return built{folder: folder, number: number}
}

// copySource copies the files of the checkout, without git.
func copySource(t *testing.T) string {
	t.Helper()
	source, target := harness.ModuleDir(t), filepath.Join(t.TempDir(), "elsewhere")
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
	list.Dir = source
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(source, name))
		if os.IsNotExist(err) {
			continue // deleted, but not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(target, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	return target
}
