package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
	"github.com/goreleaser/nfpm/v2/rpm"
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

// packages returns the Debian and the RPM package of a Linux program.
func (o origin) packages(p *program, s *shared, notices []byte) ([]file, error) {
	common, err := commonFiles(p, s)
	if err != nil {
		return nil, err
	}
	debian, err := o.debian(s, notices)
	if err != nil {
		return nil, err
	}
	var made []file
	for _, f := range []format{debian, redHat(s, notices)} {
		f.files = append(slices.Clone(common), f.files...)
		one, err := o.pack(f, p.platform.arch)
		if err != nil {
			return nil, err
		}
		made = append(made, one)
	}
	return made, nil
}

// commonFiles are in packages of every format.
func commonFiles(p *program, s *shared) ([]installed, error) {
	const path = "ExecStart=/usr/local/bin/guidon "
	if !bytes.Contains(s.unit, []byte(path)) {
		return nil, fmt.Errorf("infra/systemd/guidon.service must contain %q, which packages replace", path)
	}
	unit := bytes.Replace(s.unit, []byte(path), []byte("ExecStart=/usr/bin/guidon "), 1)
	return []installed{
		{path: "/usr/bin/guidon", mode: 0o755, content: p.content},
		{path: "/usr/lib/systemd/system/guidon.service", mode: 0o644, content: unit},
		{path: "/etc/guidon/config/default.yml", mode: 0o644, content: s.settings, config: true},
		{path: "/etc/guidon/environment", mode: 0o600, content: s.environment, config: true},
		{path: "/usr/share/bash-completion/completions/guidon", mode: 0o644, content: s.completions["bash"]},
		{path: "/usr/share/fish/vendor_completions.d/guidon.fish", mode: 0o644, content: s.completions["fish"]},
	}, nil
}

func (o origin) debian(s *shared, notices []byte) (format, error) {
	copyright, err := packaging.ReadFile("package/copyright")
	if err != nil {
		return format{}, err
	}
	changelog, err := compress(fmt.Appendf(nil, "guidon (%s) stable; urgency=medium\n\n  * See %s/releases/tag/%s\n\n -- %s  %s\n",
		strings.Replace(strings.TrimPrefix(o.packageVersion(), "v"), "-", "~", 1), homepage, o.version, maintainer, o.time.Format(time.RFC1123Z)))
	if err != nil {
		return format{}, err
	}
	return format{
		packager: deb.Default,
		depends:  []string{"passwd"},
		scripts:  nfpm.Scripts{PostInstall: "deb-postinst.sh", PreRemove: "deb-prerm.sh", PostRemove: "deb-postrm.sh"},
		files: []installed{
			{path: "/usr/share/zsh/vendor-completions/_guidon", mode: 0o644, content: s.completions["zsh"]},
			{path: "/usr/share/doc/guidon/copyright", mode: 0o644, content: copyright},
			{path: "/usr/share/doc/guidon/changelog.gz", mode: 0o644, content: changelog},
			{path: "/usr/share/doc/guidon/" + noticesName, mode: 0o644, content: notices},
		},
	}, nil
}

func redHat(s *shared, notices []byte) format {
	return format{
		packager: rpm.DefaultRPM,
		depends:  []string{"/usr/sbin/useradd"},
		scripts:  nfpm.Scripts{PostInstall: "rpm-post.sh", PreRemove: "rpm-preun.sh", PostRemove: "rpm-postun.sh"},
		files: []installed{
			{path: "/usr/share/zsh/site-functions/_guidon", mode: 0o644, content: s.completions["zsh"]},
			{path: "/usr/share/licenses/guidon/LICENSE", mode: 0o644, content: s.license},
			{path: "/usr/share/licenses/guidon/" + noticesName, mode: 0o644, content: notices},
		},
	}
}
