// Package document reads and writes import and export files: streams of
// namespaces in YAML or JSON (contract 13).
package document

import (
	"path/filepath"
	"strings"

	"github.com/guidonhq/guidon"
)

// Limits of the input.
const (
	maxInput     = 256 << 20 // bytes of a stream
	maxDocuments = 1000      // of a stream, including empty ones
	maxDepth     = 64        // nesting of values
	maxExpansion = 8 << 20   // bytes to which the aliases of a stream, or of a part of a long one, may expand, roughly
)

// Format is the encoding of a file.
type Format int

// The formats of import and export files.
const (
	YAML Format = iota // documents separated by ---
	JSON               // consecutive objects
)

// String returns the name of the format.
func (f Format) String() string {
	if f == JSON {
		return "JSON"
	}
	return "YAML"
}

// FormatOf returns the format for the extension of the path, or InvalidArgument if the
// extension is unknown.
func FormatOf(path string) (Format, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yml", ".yaml":
		return YAML, nil
	case ".json":
		return JSON, nil
	}
	return 0, guidon.Errorf(guidon.InvalidArgument, "%s: unknown file format; the name must end in .yaml, .yml or .json", path)
}
