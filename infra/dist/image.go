package main

import (
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	imagetar "github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser is the unprivileged user and group that the container runs as.
const imageUser = 65532

// image returns the container image of a Linux program: the program and the few files that it
// needs. There is no shell, and nothing to update.
func (o origin) image(p *program, license, notices, authorities []byte) (v1.Image, error) {
	// What changes less often comes first, so that registries store it once.
	base, err := o.layer([]entry{
		// Public certificate authorities, to verify the certificates of databases and identity providers.
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: authorities},
		{name: "licenses/LICENSE", mode: 0o644, content: license},
		// Default folder of an SQLite database. It stays empty with a database server.
		{name: "var/opt/guidon/", mode: 0o755, owner: imageUser},
	})
	if err != nil {
		return nil, err
	}
	top, err := o.layer([]entry{
		{name: "guidon", mode: 0o755, content: p.content},
		{name: "licenses/" + noticesName, mode: 0o644, content: notices},
	})
	if err != nil {
		return nil, err
	}
	layers := mutate.MediaType(mutate.ConfigMediaType(empty.Image, types.OCIConfigJSON), types.OCIManifestSchema1)
	layers, err = mutate.AppendLayers(layers, base, top)
	if err != nil {
		return nil, err
	}
	config, err := layers.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = p.platform.os, p.platform.arch
	config.Created = v1.Time{Time: o.time}
	config.History = nil
	config.Config = o.imageConfig()
	return mutate.ConfigFile(layers, config)
}

func (o origin) imageConfig() v1.Config {
	labels := map[string]string{
		"org.opencontainers.image.title":       "Guidon",
		"org.opencontainers.image.description": summary,
		"org.opencontainers.image.source":      homepage,
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.version":     o.version,
		"org.opencontainers.image.created":     o.time.Format(time.RFC3339),
	}
	if o.commit != "" {
		labels["org.opencontainers.image.revision"] = o.commit
	}
	return v1.Config{
		User:         fmt.Sprintf("%d:%d", imageUser, imageUser),
		Entrypoint:   []string{"/guidon"},
		Cmd:          []string{"server"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9000/tcp": {}},
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/guidon", "health"},
			Interval: 10 * time.Second, Timeout: 5 * time.Second, StartPeriod: time.Minute,
		},
		Labels: labels,
	}
}

func (o origin) layer(entries []entry) (v1.Layer, error) {
	content, err := tarGzip(entries, o.time)
	if err != nil {
		return nil, err
	}
	return imagetar.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, imagetar.WithMediaType(types.OCILayer))
}

// publicAuthorities returns Mozilla's certificate authorities in PEM format, without those that
// it trusts only under conditions, which the format cannot express.
func publicAuthorities() ([]byte, error) {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// imageFile returns the image in the format of `docker save`.
func imageFile(i v1.Image, tag string) ([]byte, error) {
	parsed, err := name.NewTag(tag)
	if err != nil {
		return nil, fmt.Errorf("invalid name of the image: %w", err)
	}
	var content bytes.Buffer
	if err := imagetar.Write(parsed, i, &content); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// writeOneImage writes the image of a program, which need not be of a release, for `docker load`.
func writeOneImage(root, binary, tag, authoritiesFile string, out io.Writer) error {
	p, err := loadProgram(binary)
	if err != nil {
		return err
	}
	if p.platform.os != "linux" {
		return fmt.Errorf("%s was built for %s: images are for linux only", binary, p.platform)
	}
	parsed, err := name.NewTag(tag)
	if err != nil {
		return fmt.Errorf("invalid -name: %w", err)
	}
	authorities, err := loadAuthorities(authoritiesFile)
	if err != nil {
		return err
	}
	license, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return err
	}
	o := origin{root: root, version: parsed.TagStr(), time: time.Unix(0, 0).UTC()}
	if head, err := fromGit(root, ""); err == nil { // otherwise the source has no time
		o.time = head.time
	}
	dependencies, err := o.dependencies(p)
	if err != nil {
		return err
	}
	i, err := o.image(p, license, noticesOf(dependencies), authorities)
	if err != nil {
		return err
	}
	content, err := imageFile(i, tag)
	if err != nil {
		return err
	}
	_, err = out.Write(content)
	return err
}

func loadAuthorities(path string) ([]byte, error) {
	if path == "" {
		return publicAuthorities()
	}
	return os.ReadFile(path)
}

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
