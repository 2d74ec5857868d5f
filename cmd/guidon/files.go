package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/atomicfile"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// standardStream is the file name that stands for the standard input or output.
const standardStream = "-"

// formatFlag is the value of --format. If it is empty, the file extension decides.
type formatFlag struct{ word string }

// Set implements pflag.Value.
func (f *formatFlag) Set(word string) error {
	switch strings.ToLower(word) {
	case "yaml", "json":
		f.word = strings.ToLower(word)
		return nil
	}
	return fmt.Errorf("must be yaml or json")
}

// String implements pflag.Value.
func (f *formatFlag) String() string { return f.word }

// Type implements pflag.Value.
func (f *formatFlag) Type() string { return "yaml|json" }

// completeFormat offers the values of --format to the shell.
func completeFormat(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "json"}, cobra.ShellCompDirectiveNoFileComp
}

// of returns the format of the file: that of --format, or else that of its extension,
// or else YAML for the standard streams.
func (f *formatFlag) of(path string) (document.Format, error) {
	switch {
	case f.word == "json":
		return document.JSON, nil
	case f.word == "yaml" || path == standardStream:
		return document.YAML, nil
	}
	format, err := document.FormatOf(path)
	if err != nil {
		return 0, fmt.Errorf("%w; or set it with --format", err)
	}
	return format, nil
}

// fileDocument is a document and the file that contains it.
type fileDocument struct {
	path string
	wire *guidonv1.Document
}

// objects returns the number of flags and segments.
func (d fileDocument) objects() int { return len(d.wire.GetFlags()) + len(d.wire.GetSegments()) }

// key returns the namespace key of the document.
func (d fileDocument) key() string { return guidon.NamespaceKey(d.wire.GetNamespace().GetKey()) }

// readDocuments returns the documents of all files, in order.
func (p *program) readDocuments(paths []string, format *formatFlag) ([]fileDocument, error) {
	var all []fileDocument
	for _, path := range paths {
		documents, err := p.readFile(path, format)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", streamName(path), plainReason(err))
		}
		for _, d := range documents {
			all = append(all, fileDocument{path: path, wire: convert.TakeDocument(d)})
		}
	}
	return all, nil
}

func (p *program) readFile(path string, format *formatFlag) ([]*service.Document, error) {
	encoding, err := format.of(path)
	if err != nil {
		return nil, err
	}
	in := p.input
	if path != standardStream {
		f, err := os.Open(path) // #nosec G304 -- the path is the user's argument
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return document.Decode(in, encoding)
}

// readInput reads a file, or the standard input, of up to limit bytes.
func (p *program) readInput(path string, limit int64) ([]byte, error) {
	in := p.input
	if path != standardStream {
		f, err := os.Open(path) // #nosec G304 -- the path is the user's argument
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, plainReason(err))
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", streamName(path), plainReason(err))
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s: must not be longer than %d bytes", streamName(path), limit)
	}
	return text, nil
}

func streamName(path string) string {
	if path == standardStream {
		return "standard input"
	}
	return path
}

// checkFiles returns an error if no files are given: reading the standard input by
// default would make the command wait for input. "-" may be given once.
func checkFiles(args []string) error {
	if len(args) == 0 {
		return usageError("specify at least one file, or - for the standard input")
	}
	streams := 0
	for _, path := range args {
		if path == standardStream {
			streams++
		}
	}
	if streams > 1 {
		return usageError("the standard input (-) can be read only once")
	}
	return nil
}

// writeAll calls write with the standard output or a file. A regular file is created
// or replaced only if write succeeds.
func (p *program) writeAll(path string, write func(io.Writer) error) error {
	if path == standardStream {
		return write(p.out)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeError(path, atomicfile.Write(path, 0o644, write)) // flags are not secret
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return writeError(path, atomicfile.Write(path, info.Mode().Perm(), write))
	}
	// A device or pipe must not be replaced.
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- the path is the user's argument
	if err != nil {
		return err
	}
	return closing(write(f), f.Close)
}

// writeError adds the path to err, in which the file system names a temporary file.
func writeError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, plainReason(err))
}
