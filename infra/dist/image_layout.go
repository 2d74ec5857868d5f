package main

import (
	"io/fs"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// layoutFile returns a tar of an OCI image layout with one image for several platforms.
func (o origin) layoutFile(images []v1.Image) ([]byte, error) {
	platforms := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, i := range images {
		config, err := i.ConfigFile()
		if err != nil {
			return nil, err
		}
		platforms = mutate.AppendManifests(platforms, mutate.IndexAddendum{
			Add: i, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: config.OS, Architecture: config.Architecture}},
		})
	}
	// The name by which tools choose an image of the layout, and by which Docker stores it.
	named := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: platforms, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": o.version,
			"io.containerd.image.name":          "docker.io/library/guidon:" + o.version,
		}},
	})
	folder, err := os.MkdirTemp("", "guidon-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	if _, err := layout.Write(folder, named); err != nil {
		return nil, err
	}
	entries, err := readFolder(folder)
	if err != nil {
		return nil, err
	}
	return tarball(entries, o.time)
}

// readFolder returns the files below a folder.
func readFolder(folder string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		entries = append(entries, entry{name: filepath.ToSlash(relative), mode: 0o644, content: content})
		return err
	})
	return entries, err
}
