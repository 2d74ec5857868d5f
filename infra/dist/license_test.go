package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLicenses: the licenses of a module are those of the folders that are used, up to its own.
func TestLicenses(t *testing.T) {
	module := t.TempDir()
	mit, err := os.ReadFile("testdata/MIT")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"LICENSE": string(mit), "NOTICE": "A notice.", "license.go": "package m", "used/deep/COPYING": string(mit), "unused/LICENSE": "Secret.",
	} {
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := dependency{path: "example.com/m", version: "v1.0.0"}
	seen := map[string]bool{}
	for _, folder := range []string{"used/deep", "used"} {
		if err := d.collect(module, filepath.Join(module, folder), seen); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, text := range d.texts {
		names = append(names, text.name)
	}
	slices.Sort(names)
	if want := []string{"LICENSE", "NOTICE", "used/deep/COPYING"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	if err := d.classify(); err != nil || !slices.Equal(d.licenses, []string{"MIT"}) {
		t.Errorf("got %v and %q, want MIT", err, d.licenses)
	}
	unknown := dependency{path: "example.com/n", version: "v1.0.0", texts: []licenseText{{name: "LICENSE", content: []byte("Ask me.")}}}
	if err := unknown.classify(); err == nil || !strings.Contains(err.Error(), "example.com/n v1.0.0") {
		t.Errorf("got %v, want an error that names the module", err)
	}
}
