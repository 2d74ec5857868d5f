package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/user"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// Limits for commands that work on the database directly, where no other client
// waits. localTimeout limits a call. The statement timeout is at least
// localStatement, because one statement reads all flags of a namespace.
const (
	localTimeout   = 15 * time.Minute
	localStatement = time.Minute
)

// Connection holds the flags that select the target of a command: a running server or the
// local database.
type Connection struct {
	Address   string // a URL, or "" for the local database; see Program.setDefaults
	CAFile    string
	Token     string
	TokenFile string
	Database  string
	local     bool
	optional  bool // without a server, the command works on the local database
	Quiet     bool // the server is named elsewhere, and a database that is only read is not
	Timeout   time.Duration
	Message   string // of writes; see WriteFlags
	Yes       bool   // the same
	DryRun    bool   // writes are checked and answered, and not stored
	writes    bool
}

// Flags adds the connection flags to the command.
func (c *Connection) Flags(command *cobra.Command) {
	c.ServerFlags(command)
	c.optional = true
	DatabaseFlag(command, &c.Database)
	command.Flags().BoolVar(&c.local, "local", false,
		"work on the configured database, not on the server of the context in use; an SQLite file is created if it does not exist")
	Connects(command.Flags(), "db", "local")
	for _, name := range []string{"address", "context"} {
		if isConnection(command.Flags().Lookup(name)) {
			command.MarkFlagsMutuallyExclusive(name, "db")
			command.MarkFlagsMutuallyExclusive(name, "local")
		}
	}
}

// ServerFlags adds the connection flags to a command that may only use a server.
func (c *Connection) ServerFlags(command *cobra.Command) {
	c.AddressFlags(command)
	flags := command.Flags()
	flags.StringVarP(&c.Token, "token", "t", "",
		"`token` for the server, instead of that of \"guidon login\"; GUIDON_TOKEN and --token-file keep it out of the process list")
	flags.StringVar(&c.TokenFile, "token-file", "", "`file` that contains the token")
	Connects(flags, "token", "token-file")
	command.MarkFlagsMutuallyExclusive("token", "token-file")
}

// AddressFlags adds the flags that select the server, but not those for a token. If Timeout is set,
// it is the default.
func (c *Connection) AddressFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&c.Address, "address", "a", "", "connect to the server at this `URL`, such as http://host:8080, https://host, grpc://host:9000 or grpcs://host:9000, or of the context with this name (default: GUIDON_ADDRESS, or that of the context in use)")
	_ = flags.SetAnnotation("address", defaulted, []string{"true"}) // the flag exists
	if flags.Lookup("context") == nil {                             // that of evaluations and of login is another one
		flags.String("context", "", "connect to the server of the context with this `name`; see \"guidon context\"")
		Connects(flags, "context")
		command.MarkFlagsMutuallyExclusive("address", "context")
	}
	flags.StringVar(&c.CAFile, "ca-file", "", "`file` with certificates of the authorities that the server's certificate may be from, in PEM (default: GUIDON_CA_FILE, that of the context, or those of the system)")
	flags.DurationVar(&c.Timeout, "timeout", cmp.Or(c.Timeout, time.Minute), "longest `time` to wait for a response from the server")
	Connects(flags, "address", "ca-file", "timeout")
}

// connection is the annotation of flags that help lists apart.
const connection = "connection"

// Connects marks flags that select the server or the database.
func Connects(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		_ = flags.SetAnnotation(name, connection, []string{"true"}) // the flag exists
	}
}

func isConnection(flag *pflag.Flag) bool { return flag != nil && flag.Annotations[connection] != nil }

// Remote reports whether the command connects to a running server.
func (c *Connection) Remote() bool { return c.Address != "" }

// Place returns where a namespace, or several, are, for messages.
func (c *Connection) Place(namespaces string) string {
	if c.Remote() {
		return namespaces + " at " + c.Address
	}
	return namespaces
}

// connect returns a client for the server or database that the flags select, and names it
// if the command writes or nothing on the command line does. It creates no database unless
// the flag --local is given.
func (p *Program) connect(ctx context.Context, c *Connection, mode Access) (client.Client, error) {
	if c.Remote() || !c.optional {
		if mode == Writing && !c.Quiet {
			p.NameTarget("the server at " + c.Address)
		}
		options, err := p.Authenticated(c)
		if err != nil {
			return nil, err
		}
		return Dial(c.Address, options)
	}
	if c.Token != "" || c.TokenFile != "" {
		return nil, UsageError("--token and --token-file require a server; specify it with --address")
	}
	configuration, err := p.LoadConfig(ctx, c.Database)
	if err != nil {
		return nil, err
	}
	if !c.local {
		if err := CheckExists(configuration.DB); err != nil {
			return nil, err
		}
	}
	db, err := p.openLocal(ctx, configuration, mode)
	if err != nil {
		return nil, err
	}
	if named := c.Database != "" || p.ConfigFile != "" || config.ClientFrom(p.Environ).Database; mode == Writing || !named && !c.Quiet {
		p.NameTarget("the database " + db.Path())
	}
	return localClient(configuration, db)
}

// NameTarget prints the target of the command on the standard error.
func (p *Program) NameTarget(target string) { fmt.Fprintf(p.Err, "using %s\n", target) }

// Authenticated returns the options for the server, with the token for it.
func (p *Program) Authenticated(c *Connection) (client.Options, error) {
	address, err := c.Normalized()
	if err != nil {
		return client.Options{}, err
	}
	token, err := p.tokenFor(c, address)
	return c.Options(token), err
}

// Normalized returns the normalized address of the server, which must be given.
func (c *Connection) Normalized() (string, error) {
	if !c.Remote() {
		return "", UsageError("no server is given: specify it with --address or GUIDON_ADDRESS, or choose one with \"guidon context use\"")
	}
	address, err := client.Normalize(c.Address)
	if err != nil {
		return "", UsageError("%w", err)
	}
	return address, nil
}

// Options returns the options for the server, with the token.
func (c *Connection) Options(token string) client.Options {
	return client.Options{Token: token, Timeout: c.Timeout, CAFile: c.CAFile}
}

// Dial returns a client for the server at the address.
func Dial(address string, options client.Options) (client.Client, error) {
	remote, err := client.Dial(address, options)
	if err != nil {
		return nil, UsageError("%w", err)
	}
	return remote, nil
}

// tokenFor returns the token for the server: that of the flags, or else of the
// environment, or else of "guidon login". It returns "" if there is none.
func (p *Program) tokenFor(c *Connection, address string) (string, error) {
	token, source, err := c.Token, "--token", error(nil)
	switch {
	case c.TokenFile != "":
		source = c.TokenFile
		token, err = config.TokenFile(c.TokenFile)
	case token == "":
		source = "GUIDON_TOKEN or GUIDON_TOKEN_FILE"
		token, err = config.TokenFrom(p.Environ)
	}
	if token != "" || err != nil {
		p.Unauthenticated = fmt.Sprintf("The server does not accept the token of %s for this: it is unknown, has expired or is limited to a namespace.", source)
		return token, err
	}
	return p.StoredToken(address)
}

// openLocal opens the database for a command that works on it directly.
func (p *Program) openLocal(ctx context.Context, c *config.Config, mode Access) (*instance.Storage, error) {
	local := *c
	local.DB.StatementTimeout = max(c.DB.StatementTimeout, localStatement)
	db, err := p.OpenReady(ctx, &local, mode)
	return db, AdviseHeld(err, "use that server with --address, or stop it first")
}

// localClient returns a client that works on the database directly, and ends with it. It has
// no cache, because a command reads everything only once.
func localClient(c *config.Config, db *instance.Storage) (client.Client, error) {
	svc, err := instance.NewService(c, db.Source(), instance.NewCounter(c.Analytics, db.DB))
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	svc, _ = instance.WithWebhooks(c, svc, db.DB, "", slog.New(slog.DiscardHandler))
	h := handler.New(handler.Config{
		Service:        svc,
		Authentication: call.AuthenticationConfig{TokenMethod: true},
		Timeout:        localTimeout,
		ReadOnly:       c.Server.ReadOnly,
	})
	return client.NewLocal(h, CliActor(), db.Close), nil
}

// CliActor returns the actor recorded for changes that commands make in the database.
func CliActor() change.Actor {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return change.Actor{ID: "cli:" + name, Name: name}
}

// WithClient calls fn with a client and closes it.
func (p *Program) WithClient(ctx context.Context, c *Connection, mode Access, fn func(client.Client) error) (err error) {
	service, err := p.connect(ctx, c, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closing := service.Close(); err == nil && closing != nil {
			err = fmt.Errorf("cannot close the connection: %w", closing)
		}
	}()
	return fn(&writingClient{Client: service, program: p, connection: c})
}
