// Package access has the commands about servers and who the user is there: signing in, contexts and status.
package access

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
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
	return p.Command(cli.Verb{
		Use: "login", Short: "Sign in to a server", Long: loginHelp, Args: noLoginArguments, Options: l.options, Run: l.run,
		Example: `  guidon login --address https://flags.example
  guidon login --address https://flags.example --no-browser
  guidon login --address https://flags.example --token < token.txt`,
	})
}

func (l *login) options(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVar(&l.noBrowser, "no-browser", false, "print the address of the sign-in page, and read the code that it shows")
	flags.BoolVar(&l.readsToken, "token", false, "read a token from the standard input instead of using a browser")
	flags.StringVar(&l.name, "name", "", "what the server calls this machine in the list of sessions (default: its host name)")
	flags.StringVar(&l.context, "context", "", "`name` of the context for the server (default: that of its context, or else its host)")
	l.connection.AddressFlags(command)
	command.MarkFlagsMutuallyExclusive("token", "no-browser")
	command.MarkFlagsMutuallyExclusive("token", "name")
	command.SetFlagErrorFunc(loginFlagError)
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
		text += " as " + cli.Printable(name)
	}
	if at := cli.Instant(who.GetExpiresAt()); !at.IsZero() {
		text += ", until " + at.Format(time.RFC3339)
	}
	_, err = fmt.Fprintf(l.Out, "%s\ncontext %s is in use\n", text, name)
	return err
}

// maxToken limits the token that is read, in bytes.
const maxToken = 16 << 10

// withToken keeps a token of the standard input that the server accepts.
func (l *login) withToken(ctx context.Context) error {
	token, err := l.readToken(ctx)
	if err != nil {
		return err
	}
	if token == "" {
		return errors.New("not signed in: the standard input contains no token")
	}
	server, err := cli.Dial(l.address, l.connection.Options(token))
	if err != nil {
		return err
	}
	defer server.Close()
	self, err := cli.Self(ctx, server)
	if errors.Is(err, guidon.Unauthenticated) { // without the hint to provide a token
		return fmt.Errorf("the server did not accept the token: %s; servers that require no authentication accept none",
			guidon.PublicMessage(err))
	}
	if err != nil {
		return err
	}
	if err := l.file.Set(ctx, l.address, machine.Credential{Token: token}); err != nil {
		return err
	}
	return l.report(ctx, self)
}

// readToken reads the token, without echo if the standard input is a terminal.
func (l *login) readToken(ctx context.Context) (string, error) {
	if !l.Terminal(l.In) {
		return l.ReadLine(ctx, maxToken)
	}
	fmt.Fprint(l.Err, "Token: ")
	file, ok := l.In.(*os.File)
	if !ok {
		return l.ReadLine(ctx, maxToken)
	}
	defer fmt.Fprintln(l.Err)
	return cli.ReadHidden(ctx, file)
}

// useServer makes the server that the user has signed in to the one that commands use: it
// finds or creates a context for it, and returns its name.
func (l *login) useServer(ctx context.Context) (name string, err error) {
	caFile := l.connection.CAFile
	if caFile != "" {
		if caFile, err = filepath.Abs(caFile); err != nil {
			return "", err
		}
	}
	err = l.UpdateContexts(ctx, func(all *machine.Contexts) error {
		name = cmp.Or(l.context, all.At(l.address), freeName(all, contextName(l.address)))
		c := all.Named[name]
		if c.Address == "" || l.context != "" {
			c.Address = l.address
		}
		if caFile != "" {
			c.CAFile = caFile
		}
		all.Named[name], all.Current = c, name
		return nil
	})
	return name, err
}

// contextName returns the name of the context for a server at the normalized address: its
// host, with the port if that is not the usual one.
func contextName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "server"
	}
	host := u.Hostname()
	if net.ParseIP(host) != nil {
		host = strings.ReplaceAll(host, ":", "-")
	}
	if u.Port() != "" {
		host += "-" + u.Port()
	}
	if !machine.IsContextName(host) {
		return "server"
	}
	return host
}

// freeName returns the name, with a number if there is a context with it.
func freeName(all *machine.Contexts, name string) string {
	free := name
	for n := 2; all.Named[free].Address != ""; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
