package changes

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/plan"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

const compareHelp = `Compare two namespaces and print what makes the second one from the first: which flags
and segments exist on one side only, and which differ, with the differences in words
and as a diff of their YAML.

Flags, segments and variants are matched by key; rules, shares and
constraints by their content. Ids and times make no difference, nor does the order of
flags and segments.

Each side is a namespace, an earlier state of one, such as shop@412 or
shop@2026-11-20T14:03:00Z, or a file that "guidon export" wrote. It is a file
if it contains a slash, ends with .yaml, .yml or .json, or is "-", the standard input.
If a file has several namespaces, the one with the key of the other side is compared.
`

const compareExample = `  guidon compare staging production
  guidon compare staging production --stat --address https://flags.example
  guidon compare production@412 production
  guidon compare production production.yaml
  guidon compare staging production -o json | jq '.objects[].summary'`

// compareCommand is one run of the command.
type compareCommand struct {
	cli.Task
	format cli.InputFormat
	stat   bool

	differences cli.Differences
}

// CompareCommand returns the command "compare".
func CompareCommand(p *cli.Program) *cobra.Command {
	c := &compareCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}} // files need no server
	return c.Command(cli.Verb{
		Use: "compare <before> <after>", Short: "Compare two namespaces, or files", Long: compareHelp, Example: compareExample,
		Names: "what differs, such as flag/new-checkout", Complete: p.CompleteStatesAndFiles,
		Options: func(command *cobra.Command) {
			c.differences.Flag(command, "differences")
			c.Connection.Flags(command)
			c.format.Flag(command)
			command.Flags().BoolVar(&c.stat, "stat", false, "print only how many flags and segments differ")
			command.MarkFlagsMutuallyExclusive("output", "stat")
		},
		Read: func(ctx context.Context, _ client.Client, args []string) (cli.Output, error) {
			return c.compare(ctx, args[0], args[1])
		},
	})
}

func (c *compareCommand) compare(ctx context.Context, before, after string) (cli.Output, error) {
	if err := cli.CheckStreams(before, after); err != nil {
		return cli.Output{}, err
	}
	cli.LimitMemory()
	compare := c.compareNamespaces
	if isFile(before) || isFile(after) {
		compare = c.compareFiles
	}
	result, err := compare(ctx, before, after)
	return c.output(result, before, after), err
}

// isFile reports whether a side is a file. A namespace can be named by none of these.
func isFile(side string) bool {
	return side == cli.StandardStream || strings.ContainsAny(side, `/\`) ||
		slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(side)))
}

// compareNamespaces returns the comparison of two namespaces by the service.
func (c *compareCommand) compareNamespaces(ctx context.Context, before, after string) (result *guidonv1.CompareResponse, err error) {
	err = c.With(ctx, cli.Reading, func(service client.Client) error {
		result, err = c.allPages(ctx, service, before, after)
		return err
	})
	return result, err
}

// allPages returns a comparison with the objects of all pages.
func (c *compareCommand) allPages(ctx context.Context, service client.Client, before, after string) (*guidonv1.CompareResponse, error) {
	request := &guidonv1.CompareRequest{NamespaceKey: before, With: after, Diff: !c.Output.ForPrograms() && !c.stat, Limit: 1000}
	if c.stat {
		request.Limit = 1
	}
	var all *guidonv1.CompareResponse
	for {
		page, err := cli.Call[guidonv1.CompareResponse](ctx, service, "/guidon.v1.CompareService/Compare", request)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = page
		} else {
			all.Objects = append(all.Objects, page.GetObjects()...)
		}
		// The other pages are about the same states, even if the namespaces change.
		request.NamespaceKey, request.With = stateOf(page.GetBefore()), stateOf(page.GetAfter())
		request.PageToken = page.GetNextPageToken()
		if all.NextPageToken = ""; c.stat || request.GetPageToken() == "" {
			return all, nil
		}
	}
}

func stateOf(s *guidonv1.ComparedState) string {
	return service.Reference{Namespace: s.GetNamespaceKey(), At: service.Moment{Revision: s.GetRevision()}}.String()
}

// compareFiles returns the comparison of two sides of which at least one is a file. It has no
// states.
func (c *compareCommand) compareFiles(ctx context.Context, before, after string) (*guidonv1.CompareResponse, error) {
	was, err := c.side(ctx, before, after)
	if err != nil {
		return nil, err
	}
	is, err := c.side(ctx, after, before)
	if err != nil {
		return nil, err
	}
	comparison := plan.NewComparison(was, is)
	result := &guidonv1.CompareResponse{Flags: comparison.Flags(), Segments: comparison.Segments()}
	for o, err := range comparison.Objects(0, !c.Output.ForPrograms() && !c.stat) {
		if err != nil {
			return nil, err
		}
		result.Objects = append(result.Objects, o)
	}
	return result, nil
}

// side returns the flags and segments of one side. A namespace itself is not compared with a
// file: what a file leaves out about it, an import leaves as it is.
func (c *compareCommand) side(ctx context.Context, name, other string) (plan.Side, error) {
	read := c.exported
	if isFile(name) {
		read = c.documentOf
	}
	d, err := read(ctx, name, other)
	if err != nil {
		return plan.Side{}, err
	}
	objects, err := d.Objects()
	if err != nil {
		return plan.Side{}, fmt.Errorf("%s: %w", cli.StreamName(name), err)
	}
	objects.Namespace = nil
	return plan.Side{Name: cli.StreamName(name), Objects: objects}, nil
}

// exported returns the document of a namespace.
func (c *compareCommand) exported(ctx context.Context, namespace, _ string) (*service.Document, error) {
	message := new(guidonv1.Document)
	err := c.With(ctx, cli.Reading, func(service client.Client) error {
		return service.Invoke(ctx, "/guidon.v1.DocumentService/Export", &guidonv1.ExportRequest{NamespaceKey: namespace}, message)
	})
	if err != nil {
		return nil, err
	}
	return convert.DocumentOfTaken(message), nil
}

// documentOf returns the only document of the file, or that of the namespace that the other
// side names.
func (c *compareCommand) documentOf(_ context.Context, path, other string) (*service.Document, error) {
	documents, err := c.ReadFile(path, &c.format)
	if err != nil {
		return nil, err
	}
	if len(documents) == 1 {
		return documents[0], nil
	}
	namespace, _ := service.ReferenceKey(other)
	for _, d := range documents {
		if guidon.NamespaceKey(d.Namespace.Key) == namespace && !isFile(other) {
			return d, nil
		}
	}
	if isFile(other) {
		return nil, fmt.Errorf("%s: has %d namespaces; compare a file with one, or with a namespace", cli.StreamName(path), len(documents))
	}
	return nil, fmt.Errorf("%s: has no namespace %q", cli.StreamName(path), namespace)
}

// isDifferent reports whether the comparison has a difference.
func isDifferent(r *guidonv1.CompareResponse) bool {
	none := func(n *guidonv1.CompareCounts) bool {
		return proto.Equal(n, &guidonv1.CompareCounts{Unchanged: n.GetUnchanged()})
	}
	return len(r.GetObjects()) > 0 || !none(r.GetFlags()) || !none(r.GetSegments())
}
