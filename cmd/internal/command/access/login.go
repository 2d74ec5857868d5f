// Package access has the commands about servers and who the user is there: signing in, contexts and status.
package access

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

const loginHelp = `Sign in to a server, and keep the token that it issues. The commands for flags,
segments and tokens then use that token for this server, unless --token,
--token-file or GUIDON_TOKEN provide another one. The server also becomes the one that
commands use by default: see "guidon context".

A web browser opens with the sign-in page of the server, which must be at the
address as browsers reach it, with its path. After you have signed in there and
allowed this machine, the browser leads back to the waiting command. If the
browser is on another machine, use --no-browser, open the address that is printed,
and paste the code that the page shows.

With --token, a token is read from the standard input, checked and kept, for
servers without a sign-in page.

Tokens are kept in guidon/credentials.json in the user's configuration directory,
which only you can read.`

// maxLoginName is the longest name of a command line.
const maxLoginName = 64

// login is one run of the command.
type login struct {
	*cli.Program
	connection cli.Connection
	noBrowser  bool
	readsToken bool
	name       string
	context    string // the name of the context for the server

	address string // normalized
	file    *machine.CredentialsFile
}

// LoginCommand returns the command "login".
func LoginCommand(p *cli.Program) *cobra.Command {
	l := &login{Program: p}
	command := &cobra.Command{
		Use:   "login",
		Short: "Sign in to a server",
		Long:  loginHelp,
		Example: `  guidon login --address https://flags.example
  guidon login --address https://flags.example --no-browser
  guidon login --address https://flags.example --token < token.txt`,
		Args: noLoginArguments,
		RunE: p.Action(l.run),
	}
	flags := command.Flags()
	flags.BoolVar(&l.noBrowser, "no-browser", false, "print the address of the sign-in page, and read the code that it shows")
	flags.BoolVar(&l.readsToken, "token", false, "read a token from the standard input instead of using a browser")
	flags.StringVar(&l.name, "name", "", "what the server calls this machine in the list of sessions (default: its host name)")
	flags.StringVar(&l.context, "context", "", "`name` of the context for the server (default: that of its context, or else its host)")
	l.connection.AddressFlags(command)
	command.MarkFlagsMutuallyExclusive("token", "no-browser")
	command.MarkFlagsMutuallyExclusive("token", "name")
	command.SetFlagErrorFunc(loginFlagError)
	return command
}

var errTokenArgument = cli.UsageError("unexpected argument; with --token, the token is read from the standard input")

// noLoginArguments rejects arguments without repeating them: they may be a token that was
// meant for --token.
func noLoginArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return errTokenArgument
	}
	return nil
}

// loginFlagError returns the error for a malformed flag, but does not repeat a value of
// --token.
func loginFlagError(_ *cobra.Command, err error) error {
	if strings.Contains(err.Error(), "--token") {
		return errTokenArgument
	}
	return err
}

func (l *login) run(ctx context.Context, _ []string) (err error) {
	if l.address, err = l.connection.Normalized(); err != nil {
		return err
	}
	if err := l.checkName(); err != nil {
		return err
	}
	if l.context != "" && !machine.IsContextName(l.context) {
		return cli.UsageError("invalid --context %q: must have at most 64 letters, digits, dots, hyphens and underscores", l.context)
	}
	if l.file, err = l.Credentials(); err != nil {
		return err
	}
	if err := l.file.Prepare(ctx); err != nil {
		return err
	}
	if l.readsToken {
		return l.withToken(ctx)
	}
	return l.withBrowser(ctx)
}

// checkName sets the default of --name.
func (l *login) checkName() error {
	if l.name == "" {
		l.name, _ = os.Hostname()
		l.name = strings.ToValidUTF8(l.name[:min(len(l.name), maxLoginName)], "")
	}
	l.name = cmp.Or(l.name, "guidon")
	if !utf8.ValidString(l.name) || utf8.RuneCountInString(l.name) > maxLoginName || strings.ContainsFunc(l.name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return cli.UsageError("invalid --name: must have at most %d printable characters", maxLoginName)
	}
	return nil
}

// report makes the server the default of commands, and prints the name of the user.
func (l *login) report(ctx context.Context, who *auth.Authentication) error {
	name, err := l.useServer(ctx)
	if err != nil {
		return fmt.Errorf("signed in to %s, but cannot keep its context: %w", l.address, err)
	}
	text := "signed in to " + l.address
	if name := cli.NameOf(who); name != "" {
		text += " as " + name
	}
	if at := cli.Instant(who.GetExpiresAt()); !at.IsZero() {
		text += ", until " + at.Format(time.RFC3339)
	}
	_, err = fmt.Fprintf(l.Out, "%s\ncontext %s is in use\n", text, name)
	return err
}
