package configuration

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/store/redact"
)

const configImportHelp = `Translate the configuration of a Flipt v1 server into a configuration file of Guidon,
and print it, or write it with --out. The input is Flipt's file (YAML or JSON), the
variables FLIPT_… of this environment with --from-flipt-environment, or both; as in
Flipt, variables take precedence.

What has no counterpart, and what means something else than in Flipt, is listed on the
standard error, and stands as a comment in the file. Values are not checked: "guidon
config check" names those that Guidon refuses, with which no server starts. The file may
contain secrets, which are not listed; --out creates it readable only by its owner.

Flipt's database is not used: Guidon gets a new one, next to it, and the command is
printed that takes the data over.`

// configImport is one run of the command.
type configImport struct {
	*cli.Program
	environment bool
	out         string
	force       bool
}

func configImportCommand(p *cli.Program) *cobra.Command {
	i := &configImport{Program: p}
	return p.Command(cli.Verb{
		Use: "import [file | -]", Short: "Translate the configuration of a Flipt v1 server", Long: configImportHelp,
		Args: cobra.MaximumNArgs(1), Run: i.run,
		Example: `  guidon config import /etc/flipt/config/default.yml
  guidon config import flipt.yml --out guidon.yml
  guidon config import --from-flipt-environment --out guidon.yml
  guidon config import flipt.yml --from-flipt-environment | less`,
		Options: func(command *cobra.Command) {
			flags := command.Flags()
			flags.BoolVar(&i.environment, "from-flipt-environment", false, "also translate the variables FLIPT_… of this environment")
			cli.OutFlag(command, &i.out)
			flags.BoolVarP(&i.force, "force", "f", false, "overwrite an existing file")
		},
	})
}

func (i *configImport) run(_ context.Context, args []string) error {
	source, err := i.source(args)
	if err != nil {
		return err
	}
	if i.writesFile() {
		if _, err := machine.NewFile(i.out, i.force); err != nil {
			return err
		}
	}
	result, err := translateFlipt(source)
	if err != nil {
		return err
	}
	for _, finding := range result.Findings {
		fmt.Fprintln(i.Err, finding)
	}
	return i.write(result)
}

// write writes the result to the file or the standard output.
func (i *configImport) write(result *fliptResult) error {
	if !i.writesFile() {
		_, err := i.Out.Write(result.Text)
		return err
	}
	if err := writeConfig(i.out, result.Text, i.force); err != nil {
		return err
	}
	fmt.Fprintf(i.Out, "wrote %s\n", i.out)
	i.printNext(result)
	return nil
}

func (i *configImport) writesFile() bool { return i.out != "" && i.out != cli.StandardStream }

// source returns the configuration to translate.
func (i *configImport) source(args []string) (source fliptSource, err error) {
	if len(args) == 0 && !i.environment {
		return source, cli.UsageError("specify Flipt's configuration file, - for the standard input, or --from-flipt-environment")
	}
	if i.environment {
		source.Environ = i.Environ
	}
	if len(args) == 0 {
		return source, nil
	}
	source.Name = cli.StreamName(args[0])
	source.File, err = i.ReadInput(args[0], maxFliptConfig)
	if source.File == nil {
		source.File = []byte{}
	}
	return source, err
}

// maxFliptConfig is the maximum size of Flipt's file, in bytes.
const maxFliptConfig = 1 << 20

// printNext says how to go on, without passwords.
func (i *configImport) printNext(result *fliptResult) {
	old := cmp.Or(redact.URL(result.Old), "<URL of Flipt's database>")
	fmt.Fprintf(i.Out, "next:\n  guidon config check --config %s\n", i.out)
	if result.Server {
		fmt.Fprintf(i.Out, "  create the database of db.url\n  guidon migrate up --config %s\n", i.out)
	}
	fmt.Fprintf(i.Out, "  guidon import --config %s --from-flipt-database '%s' --dry-run\n", i.out, old)
	if config.EngineOf(result.Old) != config.EngineSQLite && result.Old != "" {
		fmt.Fprintln(i.Out, "  (with the user and password of Flipt's db.url)")
	}
}

// writeConfig writes a configuration file, which may contain secrets.
func writeConfig(path string, text []byte, force bool) error {
	target, err := machine.NewFile(path, force)
	if err != nil {
		return err
	}
	return cli.WriteError(path, machine.ReplaceFile(target, 0o600, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}))
}
