package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
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
