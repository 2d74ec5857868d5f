package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/files"
)

//go:embed package
var packaging embed.FS

const (
	homepage   = "https://github.com/guidonhq/guidon"
	maintainer = "The Guidon authors <guidonhq@users.noreply.github.com>"
	summary    = "self-hosted feature-flag service"
	// Its first line is what lists of packages show.
	description = summary + `
Guidon keeps feature flags in SQLite, PostgreSQL, MySQL or MariaDB, and
evaluates them over HTTP and gRPC. It has a web interface, works with
OpenFeature, and is compatible with clients of Flipt v1.`
)

// format is one kind of packages.
type format struct {
	packager nfpm.PackagerWithExtension
	depends  []string
	scripts  nfpm.Scripts // names in the folder package
	files    []installed
}

// installed is a file of a package.
type installed struct {
	path    string
	mode    fs.FileMode
	content []byte
	config  bool // an upgrade keeps the administrator's changes
}

// pack returns a package for the architecture.
func (o origin) pack(f format, arch string) (file, error) {
	folder, err := os.MkdirTemp("", "guidon-dist-")
	if err != nil {
		return file{}, err
	}
	defer os.RemoveAll(folder)
	contents, err := o.stage(folder, f.files)
	if err != nil {
		return file{}, err
	}
	scripts, err := stageScripts(folder, f.scripts)
	if err != nil {
		return file{}, err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "guidon", Platform: "linux", Arch: arch, Version: o.packageVersion(), MTime: o.time,
		Section: "net", Priority: "optional", Maintainer: maintainer, Vendor: "Guidon", Homepage: homepage,
		License: "Apache-2.0", Description: description,
		Overridables: nfpm.Overridables{
			Depends: f.depends, Recommends: []string{"ca-certificates"}, Contents: contents, Scripts: scripts,
			// Otherwise it is the name of the building machine.
			RPM: nfpm.RPM{BuildHost: "localhost"},
		},
	})
	if err := nfpm.PrepareForPackager(info, f.packager.ConventionalExtension()[1:]); err != nil {
		return file{}, fmt.Errorf("package: %w", err)
	}
	var content bytes.Buffer
	if err := f.packager.Package(info, &content); err != nil {
		return file{}, fmt.Errorf("package: %w", err)
	}
	return file{name: o.name(platform{os: "linux", arch: arch}) + f.packager.ConventionalExtension(), content: content.Bytes()}, nil
}

// packageVersion is the version without hyphens inside of its last part: before a release number
// of the package they would mean something else.
func (o origin) packageVersion() string {
	release, preview, ok := strings.Cut(o.version, "-")
	if !ok {
		return release
	}
	return release + "-" + strings.ReplaceAll(preview, "-", ".")
}

// stage writes the files into the folder, from which the packager reads them.
func (o origin) stage(folder string, list []installed) (files.Contents, error) {
	var contents files.Contents
	for i, one := range list {
		source := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(source, one.content, 0o600); err != nil {
			return nil, err
		}
		kind := files.TypeFile
		if one.config {
			kind = files.TypeConfigNoReplace
		}
		contents = append(contents, &files.Content{
			Source: source, Destination: one.path, Type: kind,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: one.mode, MTime: o.time},
		})
	}
	return contents, nil
}

// stageScripts writes the maintainer scripts into the folder, and returns their paths. The
// commands that create the account replace the line #ACCOUNT#.
func stageScripts(folder string, names nfpm.Scripts) (nfpm.Scripts, error) {
	account, err := packaging.ReadFile("package/account.sh")
	if err != nil {
		return nfpm.Scripts{}, err
	}
	paths := names
	for _, name := range []*string{&paths.PostInstall, &paths.PreRemove, &paths.PostRemove} {
		script, err := packaging.ReadFile("package/" + *name)
		if err != nil {
			return nfpm.Scripts{}, err
		}
		*name = filepath.Join(folder, *name)
		script = bytes.ReplaceAll(script, []byte("#ACCOUNT#\n"), account)
		if err := os.WriteFile(*name, script, 0o600); err != nil {
			return nfpm.Scripts{}, err
		}
	}
	return paths, nil
}
