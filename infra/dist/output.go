package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const sumsName = "SHA256SUMS"

// prepareOutput makes an empty folder. It removes the files of an earlier release, but no folder
// with anything else in it.
func prepareOutput(path string) (string, error) {
	folder, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if len(entries) > 0 && !isRelease(folder, entries) {
		return "", fmt.Errorf("%s contains files that are not of a release: choose another folder", folder)
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	return folder, os.MkdirAll(folder, 0o755)
}

// isRelease reports whether all entries are files that the checksums in the folder list.
func isRelease(folder string, entries []fs.DirEntry) bool {
	sums, err := os.ReadFile(filepath.Join(folder, sumsName))
	return err == nil && !slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() != sumsName && !bytes.Contains(sums, []byte("  "+e.Name()+"\n"))
	})
}

// writeFiles writes the files and their checksums into the folder.
func writeFiles(folder string, list []file) error {
	list = slices.SortedFunc(slices.Values(list), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	var sums bytes.Buffer
	for _, f := range list {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(f.content), f.name)
	}
	for _, f := range append(list, file{name: sumsName, content: sums.Bytes()}) {
		if err := os.WriteFile(filepath.Join(folder, f.name), f.content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
