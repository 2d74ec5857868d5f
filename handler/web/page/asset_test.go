package page

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxCompressed limits the style sheet, and the modules that a page may load before somebody
// uses it, in bytes of gzip: those are app.js and one more.
const maxCompressed = 16 << 10

// loadedLater are the modules that are loaded when they are first wanted.
var loadedLater = []string{"palette.js", "session.js"}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// TestAssetSizes: the style sheet and the modules stay within the budget of a page.
func TestAssetSizes(t *testing.T) {
	app := compressed(t, assets()[appModule])
	for _, name := range slices.Sorted(maps.Keys(assets())) {
		size := compressed(t, assets()[name])
		t.Logf("%s: %d bytes", name, size)
		switch {
		case name == styleSheet && size > maxCompressed:
			t.Errorf("%s has %d bytes, more than %d", name, size, maxCompressed)
		case path.Ext(name) == ".js" && name != appModule && !slices.Contains(loadedLater, name) && app+size > maxCompressed:
			t.Errorf("%s and %s have %d bytes, more than %d", appModule, name, app+size, maxCompressed)
		}
	}
}

// importStatement matches what a module imports by name.
var importStatement = regexp.MustCompile(`import \{([^}]*)\} from "\./([^"]+)"`)

// TestImports: modules import only from app.js, so that a page needs no further request, and
// only what is exported there.
func TestImports(t *testing.T) {
	for name, content := range assets() {
		if path.Ext(name) != ".js" {
			continue
		}
		for _, m := range importStatement.FindAllStringSubmatch(string(content), -1) {
			if m[2] != appModule {
				t.Errorf("%s imports from %s, want %s", name, m[2], appModule)
				continue
			}
			for item := range strings.SplitSeq(m[1], ",") {
				if item = strings.TrimSpace(item); !strings.Contains(string(assets()[appModule]), "export const "+item+" =") {
					t.Errorf("%s does not export %s, which %s imports", appModule, item, name)
				}
			}
		}
	}
}

// formsModule is the file that decides what happens to a form that is sent.
const formsModule = "assets/app/05-forms.js"

// sending matches what takes part in sending a form.
var sending = regexp.MustCompile(`(?:addEventListener|\bon)\("(?:submit|formdata)"|\.onsubmit\b|\.requestSubmit\(|\.submit\(`)

// TestFormsModule: one file listens for forms that are sent, and sends them. With more, what
// happens to a form would depend on the order of their listeners.
func TestFormsModule(t *testing.T) {
	err := fs.WalkDir(assetFiles, "assets", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".js" {
			return err
		}
		content, err := assetFiles.ReadFile(file)
		if found := sending.FindAll(content, -1); len(found) > 0 && file != formsModule {
			t.Errorf("%s has %q; use onSubmit of %s", file, found, formsModule)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
