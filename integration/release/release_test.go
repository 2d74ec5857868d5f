package release

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/integration/harness"
)

// TestRelease makes a release, and the next one, for the platform of this machine.
func TestRelease(t *testing.T) {
	release := build(t, harness.ModuleDir(t), "1.2.3", nil, nil)
	if harness.Full() {
		t.Run("reproducible", func(t *testing.T) { testReproducible(t, release) })
	}
	t.Run("checksums", func(t *testing.T) { testChecksums(t, release) })
	t.Run("archive", func(t *testing.T) { testArchive(t, release) })
	t.Run("materials", func(t *testing.T) { testMaterials(t, release) })
	next := build(t, harness.ModuleDir(t), "1.2.4", nil, nil)
	t.Run("debian", func(t *testing.T) { testDebian(t, release, next) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, release, next) })
}

// testReproducible: another folder, time zone, language, umask and configuration of Go result in
// the same bytes.
func testReproducible(t *testing.T, release built) {
	again := build(t, copySource(t), release.number, []string{"sh", "-c", `umask 077; exec "$@"`, "sh"},
		[]string{"TZ=Asia/Tokyo", "LC_ALL=C", "GOFLAGS=-tags=simple"})
	for _, name := range fileNames(t, again.folder) {
		want, err := os.ReadFile(filepath.Join(release.folder, name))
		if err != nil {
			t.Error(err)
		}
		got, err := os.ReadFile(filepath.Join(again.folder, name))
		if err != nil {
			t.Error(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is different", name)
		}
	}
}

// testChecksums: the tool that people have agrees with SHA256SUMS, which lists every other file.
func testChecksums(t *testing.T, release built) {
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = release.folder
	out, err := check.CombinedOutput()
	if err != nil {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	platform := "1.2.3_linux_" + runtime.GOARCH
	want := []string{
		"SHA256SUMS", "guidon-lambda_" + platform + ".cdx.json", "guidon-lambda_" + platform + ".zip",
		"guidon_" + platform + ".cdx.json", "guidon_" + platform + ".deb", "guidon_" + platform + ".rpm",
		"guidon_" + platform + ".tar.gz", "guidon_" + platform + "_image.tar",
	}
	if diff := cmp.Diff(want, fileNames(t, release.folder)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if lines := strings.Count(string(out), ": OK\n"); lines != len(want)-1 {
		t.Errorf("%d files are listed, want %d", lines, len(want)-1)
	}
}

func fileNames(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names
}

// testArchive: the archive has its files in one folder, and the program in it knows its version.
func testArchive(t *testing.T, release built) {
	names, program := readArchive(t, release.path(".tar.gz"))
	want := []string{
		"-rw-r--r-- LICENSE", "-rw-r--r-- README.txt", "-rw-r--r-- THIRD_PARTY_LICENSES.txt",
		"-rw-r--r-- completions/_guidon", "-rw-r--r-- completions/guidon.bash", "-rw-r--r-- completions/guidon.fish", "-rw-r--r-- completions/guidon.ps1",
		"-rw-r--r-- examples/shop.yaml", "-rwxr-xr-x guidon",
		"-rw-r--r-- systemd/default.yml", "-rw------- systemd/environment", "-rw-r--r-- systemd/guidon.service",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	path := filepath.Join(t.TempDir(), "guidon")
	if err := os.WriteFile(path, program, 0o700); err != nil { // #nosec G306 -- a program
		t.Fatal(err)
	}
	out, err := exec.Command(path, "version").CombinedOutput() // #nosec G204 -- our own
	if want := "guidon v1.2.3 (commit " + commit + " 2026-09-21T14:13:20Z) " + runtime.Version(); err != nil || !strings.HasPrefix(string(out), want) {
		t.Errorf("guidon version: got %v and %q, want %q", err, out, want)
	}
}

// readArchive returns the modes and names of the files in the archive, and the program.
func readArchive(t *testing.T, path string) (names []string, program []byte) {
	t.Helper()
	file, err := os.Open(path) // #nosec G304 -- our own
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	uncompressed, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	folder := strings.TrimSuffix(filepath.Base(path), ".tar.gz") + "/"
	for archive := tar.NewReader(uncompressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names, program
		}
		if err != nil {
			t.Fatal(err)
		}
		name, inside := strings.CutPrefix(header.Name, folder)
		content, err := io.ReadAll(archive)
		if err != nil || !inside || len(content) == 0 || header.Uid != 0 || header.ModTime.Unix() != 1790000000 {
			t.Errorf("%s: got %v, %d bytes of user %d, changed at %s", header.Name, err, len(content), header.Uid, header.ModTime)
		}
		if name == "guidon" {
			program = content
		}
		names = append(names, fmt.Sprint(header.FileInfo().Mode(), " ", name))
	}
}

// testMaterials: the bill of materials lists the modules of the program, with their licenses.
func testMaterials(t *testing.T, release built) {
	content, err := os.ReadFile(release.path(".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BOMFormat  string
		Components []struct {
			Name, Version, PURL string
			Licenses            []struct{ License struct{ ID string } }
		}
	}
	if err := json.Unmarshal(content, &bom); err != nil {
		t.Fatal(err)
	}
	licenses := map[string]string{}
	for _, c := range bom.Components {
		if want := "pkg:golang/" + c.Name + "@" + strings.ReplaceAll(c.Version, "+", "%2B"); c.PURL != want {
			t.Errorf("%s: got %s, want %s", c.Name, c.PURL, want)
		}
		for _, l := range c.Licenses {
			licenses[c.Name] = strings.TrimSpace(licenses[c.Name] + " " + l.License.ID)
		}
	}
	want := map[string]string{"stdlib": "BSD-3-Clause", "github.com/go-chi/chi/v5": "MIT", "google.golang.org/grpc": "Apache-2.0"}
	for name, license := range want {
		if licenses[name] != license {
			t.Errorf("%s: got license %q, want %q", name, licenses[name], license)
		}
	}
	if bom.BOMFormat != "CycloneDX" || licenses["github.com/google/go-cmp"] != "" {
		t.Errorf("format %q; go-cmp, which only tests use: %q", bom.BOMFormat, licenses["github.com/google/go-cmp"])
	}
}
