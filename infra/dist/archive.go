package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// entry is a file of an archive, or a folder if its name ends in a slash.
type entry struct {
	name    string
	mode    fs.FileMode
	content []byte
	owner   int // user and group
}

func (e entry) folder() bool { return e.name[len(e.name)-1] == '/' }

// sorted returns the entries by name.
func sorted(entries []entry) []entry {
	return slices.SortedFunc(slices.Values(entries), func(a, b entry) int { return cmp.Compare(a.name, b.name) })
}

// tarball returns an uncompressed tar of the entries, all of the same time.
func tarball(entries []entry, at time.Time) ([]byte, error) {
	var content bytes.Buffer
	w := tar.NewWriter(&content)
	for _, e := range sorted(entries) {
		header := &tar.Header{
			Format: tar.FormatUSTAR, Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode.Perm()),
			Size: int64(len(e.content)), ModTime: at, Uid: e.owner, Gid: e.owner,
		}
		if e.folder() {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

// tarGzip returns a compressed tar of the entries. Its gzip header has neither name nor time.
func tarGzip(entries []entry, at time.Time) ([]byte, error) {
	plain, err := tarball(entries, at)
	if err != nil {
		return nil, err
	}
	return compress(plain)
}

func compress(content []byte) ([]byte, error) {
	var compressed bytes.Buffer
	w, err := gzip.NewWriterLevel(&compressed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressed.Bytes(), nil
}

// zipArchive returns a zip of the entries, all of the same time.
func zipArchive(entries []entry, at time.Time) ([]byte, error) {
	var content bytes.Buffer
	w := zip.NewWriter(&content)
	for _, e := range sorted(entries) {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		header.SetMode(e.mode)
		file, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := file.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return content.Bytes(), nil
}

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
