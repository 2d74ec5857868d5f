package document

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

const exportHelp = `Write the flags and segments of namespaces in the format that "guidon import" reads.

Each namespace is written as one document, a consistent state of that namespace.
The same state always produces the same bytes. The output file is created or
replaced only when the export is complete.

An earlier state has the name KEY@REVISION, or KEY@TIME with a time in RFC 3339.

With --dir, each namespace is written to a file of its own, named by its key, with flags and
segments sorted by key. "guidon plan" and "guidon apply" read such a directory. Other files
in it are left alone.`

const exportExample = `  guidon export
  guidon export --namespaces shop,till --out flags.yaml
  guidon export --namespaces shop@412
  guidon export --namespaces shop@2026-11-20T14:03:00Z
  guidon export --all-namespaces --sort-by-key --out flags.json --address https://flags.example
  guidon export --all-namespaces --dir flags/`

// exportCommand is one run of the command.
type exportCommand struct {
	*cli.Program
	connection cli.Connection
	format     cli.ExportFormat
	out        string
	namespaces []string
	all        bool
	sortByKey  bool
	dir        string
}

// ExportCommand returns the command "export".
func ExportCommand(p *cli.Program) *cobra.Command {
	e := &exportCommand{Program: p}
	return p.Command(cli.Verb{
		Use: "export", Short: "Write flags and segments to a file", Long: exportHelp, Example: exportExample,
		Options: e.options, Run: e.run,
	})
}

func (e *exportCommand) options(command *cobra.Command) {
	e.connection.Flags(command)
	flags := command.Flags()
	cli.OutFlag(command, &e.out)
	e.format.Flag(command)
	flags.StringSliceVar(&e.namespaces, "namespaces", []string{guidon.DefaultNamespace},
		"`keys` of the namespaces, or references to their states, separated by commas")
	cli.MarkNamespace(command, "namespaces")
	flags.BoolVar(&e.all, "all-namespaces", false, "export every namespace")
	flags.BoolVar(&e.sortByKey, "sort-by-key", false, "sort namespaces, flags, variants and segments by key instead of creation order")
	flags.StringVar(&e.dir, "dir", "", "write one file per namespace to this `directory`")
	command.MarkFlagsMutuallyExclusive("namespaces", "all-namespaces")
	command.MarkFlagsMutuallyExclusive("dir", "out")
	command.MarkFlagsMutuallyExclusive("dir", "sort-by-key")
}

func (e *exportCommand) run(ctx context.Context, _ []string) error {
	path := cmp.Or(e.out, cli.StandardStream)
	format, err := e.format.Of(path)
	if err != nil {
		return err
	}
	cli.LimitMemory()
	return e.WithClient(ctx, &e.connection, cli.Reading, func(svc client.Client) error {
		documents, err := e.fetch(ctx, svc)
		switch {
		case err != nil:
			return err
		case e.dir != "":
			path, err = e.dir, e.writeDir(documents)
		default:
			err = e.write(path, format, documents)
		}
		if err == nil && (path != cli.StandardStream || e.dir != "") {
			e.report(documents, path)
		}
		return err
	})
}

// write writes the documents to the file, or to the standard output.
func (e *exportCommand) write(path string, format document.Format, documents []*service.Document) error {
	return e.WriteAll(path, func(out io.Writer) error {
		buffered := bufio.NewWriter(out)
		if err := document.Encode(buffered, format, documents); err != nil {
			return err
		}
		return buffered.Flush()
	})
}

// report prints a summary of the exported file.
func (e *exportCommand) report(documents []*service.Document, path string) {
	flags, segments := 0, 0
	for _, d := range documents {
		flags, segments = flags+len(d.Flags), segments+len(d.Segments)
	}
	fmt.Fprintf(e.Err, "exported to %s: namespaces %d, flags %d, segments %d\n", path, len(documents), flags, segments)
}

// fetch returns the documents of the requested namespaces.
func (e *exportCommand) fetch(ctx context.Context, svc client.Client) ([]*service.Document, error) {
	keys, err := e.keys(ctx, svc)
	if err != nil {
		return nil, err
	}
	progress := e.StartProgress("exporting", "namespaces", len(keys))
	defer progress.Stop()
	var documents []*service.Document
	for _, key := range keys {
		message, err := cli.Call[guidonv1.Document](ctx, svc, "/guidon.v1.DocumentService/Export",
			&guidonv1.ExportRequest{NamespaceKey: key, SortByKey: e.sortByKey})
		if err != nil {
			return nil, err
		}
		d := convert.DocumentOfTaken(message)
		if !service.ValidNamespaceKey(d.Namespace.Key) { // it is the name of a file
			return nil, fmt.Errorf("unexpected response: a document of namespace %q, asked for %q", d.Namespace.Key, key)
		}
		progress.Add(1)
		documents = append(documents, d)
	}
	return documents, nil
}

// keys returns the keys or references of the namespaces to export, in the order of the file.
func (e *exportCommand) keys(ctx context.Context, svc client.Client) ([]string, error) {
	keys := slices.Clone(e.namespaces)
	if e.all {
		namespaces, err := cli.AllNamespaces(ctx, svc)
		if err != nil {
			return nil, err
		}
		keys = lists.Map(namespaces, (*flipt.Namespace).GetKey)
	}
	if e.sortByKey {
		slices.Sort(keys)
	}
	seen := make(map[string]bool)
	for _, reference := range keys {
		key, _ := service.ReferenceKey(reference)
		if key = guidon.NamespaceKey(key); seen[key] {
			return nil, fmt.Errorf("duplicate namespace %q", key)
		}
		seen[key] = true
	}
	return keys, nil
}

// writeDir writes each document to a file of its own in the directory, which it creates.
// Flags and segments are sorted by key. Variants are not: their order is content, which
// "apply" would change.
func (e *exportCommand) writeDir(documents []*service.Document) error {
	format, extension := document.YAML, ".yaml"
	if e.format.Word == "json" {
		format, extension = document.JSON, ".json"
	}
	if err := checkFileNames(documents); err != nil {
		return err
	}
	if err := os.MkdirAll(e.dir, 0o755); err != nil { // #nosec G301 -- flags are not secret
		return cli.WriteError(e.dir, err)
	}
	for _, d := range documents {
		slices.SortFunc(d.Flags, func(a, b *guidon.Flag) int { return cmp.Compare(a.Key, b.Key) })
		slices.SortFunc(d.Segments, func(a, b *guidon.Segment) int { return cmp.Compare(a.Key, b.Key) })
		if err := e.write(filepath.Join(e.dir, d.Namespace.Key+extension), format, []*service.Document{d}); err != nil {
			return err
		}
	}
	return nil
}

// checkFileNames returns an error if two keys differ only in case: on some systems these
// would be the same file.
func checkFileNames(documents []*service.Document) error {
	seen := make(map[string]string)
	for _, d := range documents {
		name := strings.ToLower(d.Namespace.Key)
		if other, twice := seen[name]; twice {
			return fmt.Errorf("namespaces %q and %q cannot be exported to one directory: their keys differ only in case", other, d.Namespace.Key)
		}
		seen[name] = d.Namespace.Key
	}
	return nil
}
