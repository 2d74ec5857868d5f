package main

import (
	_ "embed"
	"fmt"
)

//go:embed README.txt
var readme []byte

// archive returns the archive of a program, in which all files are in one folder.
func (o origin) archive(p *program, s *shared, notices []byte) (file, error) {
	folder := o.name(p.platform)
	entries := []entry{
		{name: p.platform.executable("guidon"), mode: 0o755, content: p.content},
		{name: "LICENSE", mode: 0o644, content: s.license},
		{name: noticesName, mode: 0o644, content: notices},
		{name: "README.txt", mode: 0o644, content: readme},
		{name: "examples/shop.yaml", mode: 0o644, content: s.shop},
		{name: "completions/guidon.bash", mode: 0o644, content: s.completions["bash"]},
		{name: "completions/_guidon", mode: 0o644, content: s.completions["zsh"]},
		{name: "completions/guidon.fish", mode: 0o644, content: s.completions["fish"]},
		{name: "completions/guidon.ps1", mode: 0o644, content: s.completions["powershell"]},
	}
	if p.platform.os == "linux" {
		entries = append(entries,
			entry{name: "systemd/guidon.service", mode: 0o644, content: s.unit},
			entry{name: "systemd/default.yml", mode: 0o644, content: s.settings},
			entry{name: "systemd/environment", mode: 0o600, content: s.environment},
		)
	}
	for i := range entries {
		entries[i].name = folder + "/" + entries[i].name
	}
	if p.platform.os == "windows" {
		content, err := zipArchive(entries, o.time)
		return file{name: folder + ".zip", content: content}, err
	}
	content, err := tarGzip(entries, o.time)
	return file{name: folder + ".tar.gz", content: content}, err
}

// functionArchive returns the package of the AWS Lambda function.
func (o origin) functionArchive(p *program, s *shared, notices []byte) (file, error) {
	content, err := zipArchive([]entry{
		{name: "bootstrap", mode: 0o755, content: p.content},
		{name: "LICENSE", mode: 0o644, content: s.license},
		{name: noticesName, mode: 0o644, content: notices},
	}, o.time)
	return file{name: fmt.Sprintf("guidon-lambda_%s_linux_%s.zip", o.number(), p.platform.arch), content: content}, err
}
