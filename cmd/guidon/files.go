package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// standardStream is the file name that stands for the standard input or output.
const standardStream = "-"

// choice is the value of a flag that has one of some words.
type choice struct {
	words []string
	word  string
}

// Set implements pflag.Value.
func (c *choice) Set(word string) error {
	word = strings.ToLower(word)
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("must be %s", joinWords(c.words, "or"))
	}
	c.word = word
	return nil
}

// String implements pflag.Value.
func (c *choice) String() string { return c.word }

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.words, "|") }

// complete offers the words to the shell.
func (c *choice) complete(command *cobra.Command, flag string) {
	_ = command.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag exists
		return c.words, cobra.ShellCompDirectiveNoFileComp
	})
}

// fileFormat is the format of files of flags and segments, as set by a flag; "" means that the
// file decides.
type fileFormat struct{ choice }

func (f *fileFormat) register(command *cobra.Command, flag, usage string) {
	f.words = []string{"yaml", "json"}
	command.Flags().Var(f, flag, usage)
	f.complete(command, flag)
}

// chosen returns the format that the flag states, if it does.
func (f *fileFormat) chosen() (format document.Format, ok bool) {
	if f.word == "json" {
		return document.JSON, true
	}
	return document.YAML, f.word == "yaml"
}

// exportFormat is the value of --format of "export".
type exportFormat struct{ fileFormat }

func (f *exportFormat) flag(command *cobra.Command) {
	f.register(command, "format", "output format (default: by the file extension; yaml on the standard output)")
}

// of returns the format of the file to write.
func (f *exportFormat) of(path string) (document.Format, error) {
	if format, ok := f.chosen(); ok || path == standardStream {
		return format, nil
	}
	format, err := document.FormatOf(path)
	if err != nil {
		return 0, fmt.Errorf("%w; or set it with --format", err)
	}
	return format, nil
}

// inputFormat is how files of flags and segments are read.
type inputFormat struct {
	fileFormat
	ignoreUnknown bool
}

func (f *inputFormat) flag(command *cobra.Command) {
	f.register(command, "input-format", "format of the files (default: by their extensions, or else their contents)")
	command.Flags().BoolVar(&f.ignoreUnknown, "ignore-unknown", false,
		"ignore members and values that this version does not know, in files of other versions")
}

// unknown returns how to treat members and values that are not known.
func (f *inputFormat) unknown() document.Unknown {
	if f.ignoreUnknown {
		return document.IgnoreUnknown
	}
	return document.RejectUnknown
}

// of returns the format of the file with the text.
func (f *inputFormat) of(path string, text []byte) document.Format {
	if format, ok := f.chosen(); ok {
		return format
	}
	if format, err := document.FormatOf(path); err == nil {
		return format
	}
	return document.FormatOfText(text)
}

// fileDocument is a document and the file that contains it.
type fileDocument struct {
	path string
	wire *guidonv1.Document
}

// objects returns the number of flags and segments.
func (d fileDocument) objects() int { return len(d.wire.GetFlags()) + len(d.wire.GetSegments()) }

// countObjects returns the number of flags and segments of all documents.
func countObjects(documents []fileDocument) (n int) {
	for _, d := range documents {
		n += d.objects()
	}
	return n
}

// key returns the namespace key of the document.
func (d fileDocument) key() string { return guidon.NamespaceKey(d.wire.GetNamespace().GetKey()) }

// errEmpty is returned for a file without content, which is probably a mistake.
var errEmpty = errors.New("the input is empty")

// noDocument is the problem of a file that has only comments.
const noDocument = "contains no document"

// readDocuments returns the documents of all files, in order.
func (p *program) readDocuments(paths []string, format *inputFormat) ([]fileDocument, error) {
	var all []fileDocument
	for _, path := range paths {
		documents, err := p.readFile(path, format)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			all = append(all, fileDocument{path: path, wire: convert.TakeDocument(d)})
		}
	}
	return all, nil
}

// readFile returns the documents of the file, of which there is at least one.
func (p *program) readFile(path string, input *inputFormat) ([]*service.Document, error) {
	text, format, err := p.readText(path, input)
	if err != nil {
		return nil, fileError(path, err)
	}
	documents, err := document.DecodeText(text, format, input.unknown())
	if err == nil && len(documents) == 0 {
		err = errors.New(noDocument)
	}
	return documents, fileError(path, err)
}

// readText returns the content of the file, which is not empty, and its format.
func (p *program) readText(path string, input *inputFormat) ([]byte, document.Format, error) {
	in := p.input
	if path != standardStream {
		f, err := os.Open(path) // #nosec G304 -- the path is the user's argument
		if err != nil {
			return nil, 0, err
		}
		defer f.Close()
		in = f
	}
	text, err := document.Read(in)
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errEmpty
	}
	return text, input.of(path, text), err
}

// fileError returns err, or nil, with the name of the file.
func fileError(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errEmpty):
		return fmt.Errorf("%s is empty", streamName(path))
	}
	return fmt.Errorf("%s: %w", streamName(path), plainReason(err))
}

// readInput reads a file, or the standard input, of up to limit bytes.
func (p *program) readInput(path string, limit int64) ([]byte, error) {
	in := p.input
	if path != standardStream {
		f, err := os.Open(path) // #nosec G304 -- the path is the user's argument
		if err != nil {
			return nil, fileError(path, err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
	case int64(len(text)) > limit:
		err = fmt.Errorf("must not be longer than %d bytes", limit)
	case len(bytes.TrimSpace(text)) == 0:
		err = errEmpty
	}
	return text, fileError(path, err)
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
		return writeError(path, machine.ReplaceFile(path, 0o644, write)) // flags are not secret
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return writeError(path, machine.ReplaceFile(path, info.Mode().Perm(), write))
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
