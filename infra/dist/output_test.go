package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPrepareOutput: only an earlier release is replaced.
func TestPrepareOutput(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "dist")
	for range 2 {
		if _, err := prepareOutput(folder); err != nil {
			t.Fatal(err)
		}
		if err := writeFiles(folder, []file{{name: "b", content: []byte("b")}, {name: "a", content: []byte("a")}}); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := os.ReadFile(filepath.Join(folder, sumsName))
	const want = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n" +
		"3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n"
	if err != nil || string(sums) != want {
		t.Errorf("got %v and %q, want %q", err, sums, want)
	}
	mine := filepath.Join(folder, "mine")
	for _, name := range []string{mine, filepath.Join(folder, "a")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := prepareOutput(folder); err == nil {
		t.Error("a folder with a file that is not of the release was replaced")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Error(err)
	}
}
