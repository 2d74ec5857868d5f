package main

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

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

// connection holds the flags that select the target of a command: a running server or the
// local database.
type connection struct {
	address   string // a URL, or "" for the local database; see program.setDefaults
	caFile    string
	token     string
	tokenFile string
	database  string
	local     bool
	optional  bool // without a server, the command works on the local database
	quiet     bool // the server is named elsewhere, and a database that is only read is not
	timeout   time.Duration
	message   string // of writes; see writeFlags
}

// flags adds the connection flags to the command.
func (c *connection) flags(command *cobra.Command) {
	c.serverFlags(command)
	c.optional = true
	databaseFlag(command, &c.database)
	command.Flags().BoolVar(&c.local, "local", false,
		"work on the configured database, not on the server of the context in use; an SQLite file is created if it does not exist")
	command.MarkFlagsMutuallyExclusive("address", "db")
	command.MarkFlagsMutuallyExclusive("address", "local")
}

// serverFlags adds the connection flags to a command that may only use a server.
func (c *connection) serverFlags(command *cobra.Command) {
	c.addressFlags(command)
	flags := command.Flags()
	flags.StringVarP(&c.token, "token", "t", "",
		"`token` for the server, instead of that of \"guidon login\"; GUIDON_TOKEN and --token-file keep it out of the process list")
	flags.StringVar(&c.tokenFile, "token-file", "", "`file` that contains the token")
	command.MarkFlagsMutuallyExclusive("token", "token-file")
}

// addressFlags adds the flags that select the server, but not those for a token.
func (c *connection) addressFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVarP(&c.address, "address", "a", "", "connect to the server at this `URL`, such as http://host:8080, https://host, grpc://host:9000 or grpcs://host:9000, or of the context with this name (default: GUIDON_ADDRESS, or the context in use)")
	_ = flags.SetAnnotation("address", defaulted, []string{"true"}) // the flag exists
	flags.StringVar(&c.caFile, "ca-file", "", "`file` with certificates of the authorities that the server's certificate may be from, in PEM (default: GUIDON_CA_FILE, that of the context, or those of the system)")
	flags.DurationVar(&c.timeout, "timeout", time.Minute, "longest `time` to wait for a response from the server")
}

// remote reports whether the command connects to a running server.
func (c *connection) remote() bool { return c.address != "" }

// connect returns a client for the server or database that the flags select, and names it
// if the command writes or nothing on the command line does. It creates no database unless
// the flag --local is given.
func (p *program) connect(ctx context.Context, c *connection, mode access) (client.Client, error) {
	if c.remote() || !c.optional {
		if mode == writing && !c.quiet {
			p.nameTarget("the server at " + c.address)
		}
		return p.connectRemote(c)
	}
	if c.token != "" || c.tokenFile != "" {
		return nil, usageError("--token and --token-file require a server; specify it with --address")
	}
	configuration, err := p.loadConfig(ctx, c.database)
	if err != nil {
		return nil, err
	}
	if !c.local {
		if err := checkExists(configuration.DB); err != nil {
			return nil, err
		}
	}
	db, end, err := p.openLocal(ctx, configuration, mode)
	if err != nil {
		return nil, err
	}
	if named := c.database != "" || p.config != "" || config.ClientFrom(p.environ).Database; mode == writing || !named && !c.quiet {
		p.nameTarget("the database " + db.Path())
	}
	return localClient(configuration, db, end)
}

// nameTarget prints the target of the command on the standard error.
func (p *program) nameTarget(target string) { fmt.Fprintf(p.err, "using %s\n", target) }

func (p *program) connectRemote(c *connection) (client.Client, error) {
	options, err := p.authenticated(c)
	if err != nil {
		return nil, err
	}
	return dial(c.address, options)
}

// authenticated returns the options for the server, with the token for it.
func (p *program) authenticated(c *connection) (client.Options, error) {
	address, err := c.normalized()
	if err != nil {
		return client.Options{}, err
	}
	token, err := p.tokenFor(c, address)
	return c.options(token), err
}

// normalized returns the normalized address of the server, which must be given.
func (c *connection) normalized() (string, error) {
	if !c.remote() {
		return "", usageError("no server is given: specify it with --address or GUIDON_ADDRESS, or choose one with \"guidon context use\"")
	}
	address, err := client.Normalize(c.address)
	if err != nil {
		return "", usageError("%w", err)
	}
	return address, nil
}

// options returns the options for the server, with the token.
func (c *connection) options(token string) client.Options {
	return client.Options{Token: token, Timeout: c.timeout, CAFile: c.caFile}
}

func dial(address string, options client.Options) (client.Client, error) {
	remote, err := client.Dial(address, options)
	if err != nil {
		return nil, usageError("%w", err)
	}
	return remote, nil
}

// tokenFor returns the token for the server: that of the flags, or else of the
// environment, or else of "guidon login". It returns "" if there is none.
func (p *program) tokenFor(c *connection, address string) (string, error) {
	token, source, err := c.token, "--token", error(nil)
	switch {
	case c.tokenFile != "":
		source = c.tokenFile
		token, err = config.TokenFile(c.tokenFile)
	case token == "":
		source = "GUIDON_TOKEN or GUIDON_TOKEN_FILE"
		token, err = config.TokenFrom(p.environ)
	}
	if token != "" || err != nil {
		p.unauthenticated = fmt.Sprintf("The server does not accept the token of %s for this: it is unknown, has expired or is limited to a namespace.", source)
		return token, err
	}
	return p.storedToken(address)
}

// openLocal opens the database for a command that works on it directly.
func (p *program) openLocal(ctx context.Context, c *config.Config, mode access) (*instance.Storage, func() error, error) {
	local := *c
	local.DB.StatementTimeout = max(c.DB.StatementTimeout, localStatement)
	db, end, err := p.openReady(ctx, &local, mode)
	return db, end, adviseAddress(err)
}

// localClient returns a client that works on the database directly, and ends with it. It has
// no cache, because a command reads everything only once.
func localClient(c *config.Config, db *instance.Storage, end func() error) (client.Client, error) {
	svc, err := instance.NewService(c, db.Source())
	if err != nil {
		return nil, errors.Join(err, end())
	}
	h := handler.New(handler.Config{
		Service:        svc,
		Authentication: call.AuthenticationConfig{TokenMethod: true},
		Timeout:        localTimeout,
		ReadOnly:       c.Server.ReadOnly,
	})
	return client.NewLocal(h, cliActor(), end), nil
}

// cliActor returns the actor recorded for changes that commands make in the database.
func cliActor() change.Actor {
	name := "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	return change.Actor{ID: "cli:" + name, Name: name}
}

// withClient calls fn with a client and closes it.
func (p *program) withClient(ctx context.Context, c *connection, mode access, fn func(client.Client) error) (err error) {
	service, err := p.connect(ctx, c, mode)
	if err != nil {
		return err
	}
	defer func() {
		if closing := service.Close(); err == nil && closing != nil {
			err = fmt.Errorf("cannot close the connection: %w", closing)
		}
	}()
	if c.message != "" {
		return fn(messageClient{service, c.message})
	}
	return fn(service)
}
