package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/rpm"
)

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
