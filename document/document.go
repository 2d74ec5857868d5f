// Package document reads and writes import and export files: streams of
// namespaces in YAML or JSON (contract 13).
package document

import (
	"path/filepath"
	"strings"

	"github.com/guidonhq/guidon"
)

// Bounds of what is read.
const (
	maxInput     = 256 << 20 // bytes of a stream
	maxDocuments = 1000      // of a stream, empty ones included
	maxDepth     = 64        // of values in values
	maxExpansion = 8 << 20   // bytes that the aliases of one document stand for, roughly
)

// Format is the encoding of a file.
type Format int

// The formats.
const (
	YAML Format = iota // documents separated by ---
	JSON               // objects one after the other
)

// String returns the name of the format.
func (f Format) String() string {
	if f == JSON {
		return "JSON"
	}
	return "YAML"
}

// FormatOf returns the format that the extension of the path stands for, or
// InvalidArgument for an unknown one.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yml", ".yaml":
		return YAML, nil
	case ".json":
		return JSON, nil
	}
	return 0, guidon.Errorf(guidon.InvalidArgument, "%s: unknown file format; the name must end in .yaml, .yml or .json", path)
}
