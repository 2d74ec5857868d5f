// Package document has the commands that import, export and validate files of flags and segments.
package document

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

const importHelp = `Load flags and segments from files. A file contains one or more namespaces.

Each namespace is imported completely or not at all. By default, the import fails
if a flag or segment already exists.

  --skip-existing  leave existing flags and segments unchanged
  --update         make existing flags and segments, with everything they
                   contain, equal to the file; keep those not in the file
  --drop           like --update, but also delete everything from the
                   namespaces of the file that is not in the file; other
                   namespaces are kept. It lists the deletions and asks for
                   confirmation.
  --dry-run        change nothing and print the differences

Files are YAML or JSON, by their extension or else their content, in versions 1.0
to 1.4 of the format (v1.4 and 1.4.0 are accepted as well). "-" is the standard
input. A member that is not known is an error, unless --ignore-unknown is given for
files of other versions: most are misspelled. "guidon validate" lists all of them.

--from-flipt-database imports from the database of a Flipt v1 server instead
(SQLite, PostgreSQL, MySQL; CockroachDB is expected to work, not tested): namespaces,
flags, segments and tokens, with their ids, ranks and times, so that clients and
tokens continue to work. If Flipt had policies (authorization.required), limit its
tokens with --token-role; otherwise those without a namespace become admins.

A row that cannot be read, such as a constraint of an unknown type, damages its segment
and every flag that depends on it. They are listed with the reason, and nothing is
imported unless --damaged says what becomes of such flags:

  --damaged off      import them without variants, rules, off for everybody
  --damaged omit     do not import them

With both, segments and tokens that cannot be read are not imported. A row whose flag,
segment, rule does not exist damages everything that it may belong to; with
--ignore-orphans it is left out, as in Flipt. A time that cannot be read is replaced by
that of the import, and listed.

With --dry-run, everything is printed and ends as in the import, and no database to
import into is needed. Namespaces that already contain anything else are rejected.
An import can be repeated, for example if it was interrupted.

--from unleash reads a file of Unleash instead: a response of its client API, an export
of features, or an export of the state; or, with --url, the client API itself, by the
token in UNLEASH_TOKEN or --url-token-file. Each environment becomes a namespace, in
which every user with a userId keeps the variant. Features of which that cannot be said
are listed with the reason, and left out. Each of the others is evaluated for 100,000
generated users as Unleash does and as Guidon does; if an answer differs, nothing is
imported. The rest is as for a file. --out writes the file instead of importing it.`

const importExample = `  guidon import shop.yaml
  guidon import shop.yaml --update --dry-run
  guidon import shop.yaml --update --address https://flags.example
  guidon export --address https://flags.example --all-namespaces | guidon import -
  guidon import --from-flipt-database file:/var/opt/flipt/flipt.db --dry-run
  guidon import --from-flipt-database file:/var/opt/flipt/flipt.db --token-role viewer
  guidon import --from-flipt-database file:/var/opt/flipt/flipt.db --damaged off
  guidon import --from unleash features.json --out flags.yaml
  guidon import --from unleash --url https://unleash.example/api --update --dry-run`

// importCommand is one run of the command.
type importCommand struct {
	cli.Task
	format       cli.InputFormat
	skipExisting bool
	update       bool
	drop         bool
	dryRun       bool
	differences  cli.Differences

	fliptDatabase string
	tokenRole     string // of tokens of Flipt
	damaged       string // how to treat damaged flags of Flipt
	ignoreOrphans bool

	unleash unleashSource
}

// ImportCommand returns the command "import".
func ImportCommand(p *cli.Program) *cobra.Command {
	i := &importCommand{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	return i.Command(cli.Verb{
		Use: "import <file>... | - | --from-flipt-database <URL> | --from unleash", Short: "Load flags and segments from files",
		Long: importHelp, Example: importExample, Names: "what changes, such as shop/flag/new-checkout",
		Args: cobra.ArbitraryArgs, Options: i.options, Run: i.run,
		Check: func(command *cobra.Command) error { return cli.NotEmpty(command, "token-role", "environment") },
	})
}

func (i *importCommand) options(command *cobra.Command) {
	i.Connection.WriteFlags(command)
	flags := command.Flags()
	i.format.Flag(command)
	flags.BoolVar(&i.skipExisting, "skip-existing", false, "leave existing flags and segments unchanged")
	flags.BoolVar(&i.update, "update", false, "make existing flags and segments equal to the file")
	flags.BoolVar(&i.drop, "drop", false, "like --update, but also delete what is not in the file from its namespaces")
	flags.BoolVar(&i.dryRun, "dry-run", false, "print the differences and change nothing")
	i.differences.Flag(command, "changes (requires --dry-run)")
	flags.StringVar(&i.fliptDatabase, "from-flipt-database", "",
		"import everything from the database of a Flipt v1 server at this `URL` instead of from files")
	flags.StringVar(&i.tokenRole, "token-role", "", "`role` of the static tokens of Flipt: "+service.RoleWords)
	_ = command.RegisterFlagCompletionFunc("token-role", cli.CompleteWords(service.RoleNames()...)) // the flag exists
	flags.StringVar(&i.damaged, "damaged", "",
		"what becomes of flags of Flipt that cannot be read wholly: `off or omit` (default: import nothing)")
	flags.BoolVar(&i.ignoreOrphans, "ignore-orphans", false,
		"leave out rows of Flipt whose flag, segment, rule does not exist, as Flipt does")
	i.unleash.flags(command)
	command.MarkFlagsMutuallyExclusive("skip-existing", "update", "drop")
}

func (i *importCommand) mode() guidonv1.ImportMode {
	switch {
	case i.skipExisting:
		return guidonv1.ImportMode_SKIP_EXISTING_IMPORT_MODE
	case i.update:
		return guidonv1.ImportMode_UPDATE_IMPORT_MODE
	case i.drop:
		return guidonv1.ImportMode_REPLACE_IMPORT_MODE
	}
	return guidonv1.ImportMode_CREATE_IMPORT_MODE
}

func (i *importCommand) run(ctx context.Context, paths []string) error {
	if i.fliptDatabase == "" && (i.tokenRole != "" || i.damaged != "" || i.ignoreOrphans) {
		return cli.UsageError("--token-role, --damaged and --ignore-orphans can be combined only with --from-flipt-database")
	}
	if i.fliptDatabase != "" {
		return i.importFlipt(ctx, paths)
	}
	if err := i.unleash.check(paths); err != nil {
		return err
	}
	if err := i.differences.Check(i.dryRun); err != nil {
		return err
	}
	cli.LimitMemory()
	documents, err := i.documents(ctx, paths)
	if err != nil {
		return err
	}
	if i.unleash.out != "" {
		return i.writeUnleash(documents)
	}
	if same := sameNamespace(documents); i.drop && same != "" {
		return fmt.Errorf("%s; with --drop the second would delete the first", same)
	} else if i.dryRun && same != "" {
		fmt.Fprintf(i.Err, "%s; each is compared with what there is now, not with what the others make of it\n", same)
	}
	mode := cli.Writing
	if i.dryRun {
		mode = cli.Reading
	}
	return i.With(ctx, mode, func(service client.Client) error {
		if i.dryRun {
			return i.preview(ctx, service, documents)
		}
		return i.apply(ctx, service, documents)
	})
}

// documents returns the documents to import.
func (i *importCommand) documents(ctx context.Context, paths []string) ([]cli.FileDocument, error) {
	if i.unleash.chosen() {
		return i.readUnleash(ctx, paths)
	}
	return i.ReadDocuments(paths, &i.format)
}

// sameNamespace says which two documents have the same namespace, or returns "".
func sameNamespace(documents []cli.FileDocument) string {
	seen := make(map[string]string)
	for _, d := range documents {
		if other, twice := seen[d.Key()]; twice {
			return fmt.Sprintf("namespace %s is in %s and in %s", guidon.Quote(d.Key()), other, cli.StreamName(d.Path))
		}
		seen[d.Key()] = cli.StreamName(d.Path)
	}
	return ""
}

// preview prints the changes that the import would make.
func (i *importCommand) preview(ctx context.Context, service client.Client, documents []cli.FileDocument) error {
	plans, err := i.planAll(ctx, service, documents)
	if err != nil {
		return err
	}
	s := shownImports(plans)
	s.Table = func(out io.Writer) error { return printPreview(out, plans) }
	if err := i.Show(i.Output, s); err != nil {
		return err
	}
	return i.differences.Result(len(s.Names) > 0)
}

// planAll returns the changes that each document would make.
func (i *importCommand) planAll(
	ctx context.Context, service client.Client, documents []cli.FileDocument,
) ([]*guidonv1.ImportResponse, error) {
	progress := i.StartProgress("checking", "objects", cli.CountObjects(documents))
	defer progress.Stop()
	plans := make([]*guidonv1.ImportResponse, 0, len(documents))
	for _, d := range documents {
		plan, err := i.send(ctx, service, d, true)
		if err != nil {
			return nil, fmt.Errorf("nothing was imported: %w", err)
		}
		progress.Add(d.Objects())
		plans = append(plans, plan)
	}
	return plans, nil
}

// apply imports the documents. If there are several, or if something may be deleted,
// a dry run of all of them comes first.
func (i *importCommand) apply(ctx context.Context, service client.Client, documents []cli.FileDocument) error {
	var plans []*guidonv1.ImportResponse
	var err error
	if i.drop || len(documents) > 1 {
		if plans, err = i.planAll(ctx, service, documents); err != nil {
			return err
		}
	}
	if i.drop {
		if err := i.confirmDrop(plans); err != nil {
			return err
		}
	}
	imported, err := i.importAll(ctx, service, documents, plans)
	if i.Output.ForPrograms() {
		err = errors.Join(err, i.Show(i.Output, shownImports(imported)))
	}
	return err
}

// importAll imports the documents one after the other, and returns the changes made up to the
// first that fails.
func (i *importCommand) importAll(
	ctx context.Context, service client.Client, documents []cli.FileDocument, plans []*guidonv1.ImportResponse,
) ([]*guidonv1.ImportResponse, error) {
	var imported []*guidonv1.ImportResponse
	progress := i.StartProgress("importing", "objects", cli.CountObjects(documents))
	defer progress.Stop()
	for n, d := range documents {
		ctx := ctx
		if i.drop && deletes(plans[n]) > 0 {
			ctx = client.WithIfMatch(ctx, plans[n].GetRevision()) // exactly the confirmed deletions
		}
		done, err := i.send(ctx, service, d, false)
		if err != nil {
			return imported, i.partial(documents[:n], err)
		}
		imported = append(imported, done)
		progress.Add(d.Objects())
		if !i.Output.ForPrograms() {
			progress.Hide(func() { fmt.Fprintln(i.Out, summary(done)) })
		}
	}
	return imported, nil
}

// partial adds to the error the namespaces that were imported before it.
func (i *importCommand) partial(imported []cli.FileDocument, err error) error {
	if cli.HasChanged(err) {
		err = fmt.Errorf("%w; the namespace has changed since the deletions were listed: run the import again", err)
	}
	if len(imported) == 0 {
		return fmt.Errorf("nothing was imported: %w", err)
	}
	return fmt.Errorf("only %s was imported: %w", strings.Join(lists.Map(imported, cli.FileDocument.Key), ", "), err)
}

// send imports one document or, in a dry run, only returns the changes that it would make.
func (i *importCommand) send(
	ctx context.Context, service client.Client, d cli.FileDocument, dryRun bool,
) (*guidonv1.ImportResponse, error) {
	response, err := cli.Call[guidonv1.ImportResponse](ctx, service, "/guidon.v1.DocumentService/Import", &guidonv1.ImportRequest{
		NamespaceKey: d.Key(), Document: d.Wire, Mode: i.mode(), DryRun: dryRun, IgnoreUnknown: i.format.IgnoreUnknown,
	})
	if err == nil {
		return response, nil
	}
	err = fmt.Errorf("%s, namespace %s: %w", cli.StreamName(d.Path), guidon.Quote(d.Key()), err)
	if i.mode() == guidonv1.ImportMode_CREATE_IMPORT_MODE && strings.Contains(err.Error(), "is not unique") {
		err = fmt.Errorf("%w; use --update to make it equal to the file, or --skip-existing to keep it", err)
	}
	return nil, err
}
