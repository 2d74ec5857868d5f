package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// TestFormula: each platform has its archive and its checksum.
func TestFormula(t *testing.T) {
	o := origin{version: "v1.2.3"}
	archives := map[platform]file{}
	for _, p := range every {
		archives[p] = file{name: o.name(p) + ".tar.gz", content: []byte(p.String())}
	}
	made, err := o.formula(archives)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range every[:4] {
		sum := sha256.Sum256([]byte(p.String()))
		want := "      url \"https://github.com/guidonhq/guidon/releases/download/v1.2.3/" + o.name(p) + ".tar.gz\"\n" +
			"      sha256 \"" + hex.EncodeToString(sum[:]) + "\"\n"
		if !strings.Contains(string(made.content), want) {
			t.Errorf("%s: %s lacks\n%s", p, made.content, want)
		}
	}
	delete(archives, every[0])
	if _, err := o.formula(archives); err == nil {
		t.Error("a formula without one of the archives is no error")
	}
}
