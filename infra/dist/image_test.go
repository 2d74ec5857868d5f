package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestLayout: the layout has one image, under its name, that a registry offers for both platforms.
func TestLayout(t *testing.T) {
	o := origin{version: "v1.2.3", commit: "0a", time: time.Unix(1790000000, 0).UTC()}
	var images []v1.Image
	for _, arch := range []string{"amd64", "arm64"} {
		p := &program{platform: platform{os: "linux", arch: arch}, content: []byte("program for " + arch)}
		image, err := o.image(p, []byte("license"), []byte("notices"), []byte("authorities"))
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, image)
	}
	content, err := o.layoutFile(images)
	if err != nil {
		t.Fatal(err)
	}
	again, err := o.layoutFile(images)
	if err != nil || !bytes.Equal(content, again) {
		t.Errorf("the same images result in another file: %v", err)
	}
	outer, err := layout.ImageIndexFromPath(unpack(t, content))
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Error(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Fatalf("got %+v, want one image with the name v1.2.3", manifest.Manifests)
	}
	inner, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms, err := inner.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"linux/amd64", "linux/arm64"} {
		if got := platforms.Manifests[i].Platform.String(); got != want {
			t.Errorf("image %d: got %s, want %s", i, got, want)
		}
	}
}

// unpack unpacks a tar into a folder.
func unpack(t *testing.T, content []byte) string {
	t.Helper()
	folder := t.TempDir()
	for archive := tar.NewReader(bytes.NewReader(content)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return folder
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, header.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAuthorities: the certificates are in a format that programs read, and many.
func TestAuthorities(t *testing.T) {
	text, err := publicAuthorities()
	if err != nil {
		t.Fatal(err)
	}
	if count := bytes.Count(text, []byte("-----BEGIN CERTIFICATE-----\n")); count < 100 {
		t.Errorf("got %d certificates, want at least 100", count)
	}
}
