package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
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

// StandardStream is the file name that stands for the standard input or output.
const StandardStream = "-"

// choice is the value of a flag that has one of some words.
type choice struct {
	words []string
	word  *string
	hint  string // after the error about another word
}

// Set implements pflag.Value.
func (c choice) Set(word string) error {
	word = strings.ToLower(word)
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("must be %s%s", JoinWords(c.words, "or"), c.hint)
	}
	*c.word = word
	return nil
}

// String implements pflag.Value.
func (c choice) String() string { return *c.word }

// Type implements pflag.Value.
func (c choice) Type() string { return strings.Join(c.words, "|") }

// Choice adds a flag that has one of some words.
func Choice(command *cobra.Command, word *string, name, shorthand, usage string, words ...string) {
	choice{words: words, word: word}.add(command, name, shorthand, usage)
}

func (c choice) add(command *cobra.Command, name, shorthand, usage string) {
	command.Flags().VarP(c, name, shorthand, usage)
	_ = command.RegisterFlagCompletionFunc(name, CompleteWords(c.words...)) // the flag exists
}

var fileFormats = []string{"yaml", "json"}

// fileFormat is the format of files of flags and segments, as set by a flag; "" means that the
// file decides.
type fileFormat struct{ Word string }

// chosen returns the format that the flag states, if it does.
func (f *fileFormat) chosen() (format document.Format, ok bool) {
	if f.Word == "json" {
		return document.JSON, true
	}
	return document.YAML, f.Word == "yaml"
}

// OutFlag adds the option for the file that a command writes.
func OutFlag(command *cobra.Command, path *string) {
	command.Flags().StringVar(path, "out", "", "write to this `file` instead of the standard output")
}

// OutputChoice adds --output to a command that has formats of its own. It was called --format.
func OutputChoice(command *cobra.Command, word *string, usage, hint string, words ...string) {
	c := choice{words, word, hint}
	c.add(command, "output", "o", usage)
	c.add(command, "format", "", usage)
	_ = command.Flags().MarkHidden("format") // the flag exists
}

// ExportFormat is the value of --output of "export".
type ExportFormat struct{ fileFormat }

// Flag adds the options of the format to the command.
func (f *ExportFormat) Flag(command *cobra.Command) {
	OutputChoice(command, &f.Word, "output format (default: by the extension of --out; yaml on the standard output)",
		"; --out names the file", fileFormats...)
}

// Of returns the format of the file to write.
func (f *ExportFormat) Of(path string) (document.Format, error) {
	if format, ok := f.chosen(); ok || path == StandardStream {
		return format, nil
	}
	format, err := document.FormatOf(path)
	if err != nil {
		return 0, fmt.Errorf("%w; or set it with --output", err)
	}
	return format, nil
}

// InputFormat is how files of flags and segments are read.
type InputFormat struct {
	fileFormat
	IgnoreUnknown bool
}

// Flag adds the options of the format to the command.
func (f *InputFormat) Flag(command *cobra.Command) {
	Choice(command, &f.Word, "input-format", "", "format of the files (default: by their extensions, or else their contents)",
		fileFormats...)
	command.Flags().BoolVar(&f.IgnoreUnknown, "ignore-unknown", false,
		"ignore members and values that this version does not know, in files of other versions")
}

// Unknown returns how to treat members and values that are not known.
func (f *InputFormat) Unknown() document.Unknown {
	if f.IgnoreUnknown {
		return document.IgnoreUnknown
	}
	return document.RejectUnknown
}

// of returns the format of the file with the text.
func (f *InputFormat) of(path string, text []byte) document.Format {
	if format, ok := f.chosen(); ok {
		return format
	}
	if format, err := document.FormatOf(path); err == nil {
		return format
	}
	return document.FormatOfText(text)
}

// FileDocument is a document and the file that contains it.
type FileDocument struct {
	Path string
	Wire *guidonv1.Document
}

// Objects returns the number of flags and segments.
func (d FileDocument) Objects() int { return len(d.Wire.GetFlags()) + len(d.Wire.GetSegments()) }

// CountObjects returns the number of flags and segments of all documents.
func CountObjects(documents []FileDocument) (n int) {
	for _, d := range documents {
		n += d.Objects()
	}
	return n
}

// Key returns the namespace key of the document.
func (d FileDocument) Key() string { return guidon.NamespaceKey(d.Wire.GetNamespace().GetKey()) }

// errEmpty is returned for a file without content, which is probably a mistake.
var errEmpty = errors.New("the input is empty")

// NoDocument is the problem of a file that has only comments.
const NoDocument = "contains no document"

// ReadDocuments returns the documents of all files, in order.
func (p *Program) ReadDocuments(paths []string, format *InputFormat) ([]FileDocument, error) {
	var all []FileDocument
	for _, path := range paths {
		documents, err := p.ReadFile(path, format)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			all = append(all, FileDocument{Path: path, Wire: convert.TakeDocument(d)})
		}
	}
	return all, nil
}

// ReadFile returns the documents of the file, of which there is at least one.
func (p *Program) ReadFile(path string, input *InputFormat) ([]*service.Document, error) {
	text, format, err := p.ReadText(path, input)
	if err != nil {
		return nil, fileError(path, err)
	}
	documents, err := document.Decode(text, format, input.Unknown())
	if err == nil && len(documents) == 0 {
		err = errors.New(NoDocument)
	}
	return documents, fileError(path, err)
}

// Open opens a file, or the standard input.
func (p *Program) Open(path string) (io.ReadCloser, error) {
	if path == StandardStream {
		return io.NopCloser(p.Input), nil
	}
	return os.Open(path) // #nosec G304 -- the path is the user's argument
}

// ReadText returns the content of the file, which is not empty, and its format.
func (p *Program) ReadText(path string, input *InputFormat) ([]byte, document.Format, error) {
	in, err := p.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
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
		return fmt.Errorf("%s is empty", StreamName(path))
	}
	return fmt.Errorf("%s: %w", StreamName(path), PlainReason(err))
}

// ReadInput reads a file, or the standard input, of up to limit bytes, without a byte order mark.
func (p *Program) ReadInput(path string, limit int64) ([]byte, error) {
	in, err := p.Open(path)
	if err != nil {
		return nil, fileError(path, err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	switch {
	case err != nil:
	case int64(len(text)) > limit:
		err = fmt.Errorf("must not be longer than %d bytes", limit)
	case len(bytes.TrimSpace(text)) == 0:
		err = errEmpty
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), fileError(path, err)
}

// StreamName returns the name of a file, or of the standard input.
func StreamName(path string) string {
	if path == StandardStream {
		return "standard input"
	}
	return path
}

// CheckFiles returns an error if no files are given: reading the standard input by
// default would make the command wait for input. "-" may be given once.
func CheckFiles(args []string) error {
	if len(args) == 0 {
		return UsageError("specify at least one file, or - for the standard input")
	}
	return CheckStreams(args...)
}

// CheckStreams returns an error if "-" is given more than once.
func CheckStreams(paths ...string) error {
	if i := slices.Index(paths, StandardStream); i >= 0 && slices.Contains(paths[i+1:], StandardStream) {
		return UsageError("the standard input (-) can be read only once")
	}
	return nil
}

// WriteAll calls write with the standard output or a file. A regular file is created
// or replaced only if write succeeds.
func (p *Program) WriteAll(path string, write func(io.Writer) error) error {
	if path == StandardStream {
		return write(p.Out)
	}
	path = machine.FileTarget(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return WriteError(path, machine.ReplaceFile(path, 0o644, write)) // flags are not secret
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return WriteError(path, machine.ReplaceFile(path, info.Mode().Perm(), write))
	}
	// A device or pipe must not be replaced.
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- the path is the user's argument
	if err != nil {
		return err
	}
	return Closing(write(f), f.Close)
}

// WriteError adds the path to err, in which the file system names a temporary file.
func WriteError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write %s: %w", path, PlainReason(err))
}

// Closing calls end. It returns err, or else the error of end.
func Closing(err error, end func() error) error {
	if later := end(); err == nil {
		return later
	}
	return err
}

// FindingText returns the message of the finding with the path.
func FindingText(f document.Finding) string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}
