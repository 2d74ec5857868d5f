package access

import (
	"context"
	"crypto/rand"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/service"
)

// SignInCommand returns the command "sign-in".
func SignInCommand(p *cli.Program) *cobra.Command {
	return cli.Group("sign-in", "Replace the keys of signing in", "Manage what all servers on a database share for signing in.",
		rotateKeysCommand(p))
}

const rotateKeysHelp = `Make a new key for signing in, and delete the old ones, after somebody may have read
the database or a backup of it. Servers make new keys by themselves once a month.

The keys protect attempts to sign in, and the codes for "guidon login". Whoever is
signing in at the moment has to begin again. Sessions and tokens stay valid.

Servers may remember old keys, so restart them afterwards. A server has its SQLite
file to itself and must be stopped first.`

func rotateKeysCommand(p *cli.Program) *cobra.Command {
	return p.Command(cli.Verb{
		Use: "rotate-keys", Short: "Make a new key and delete the old ones", Long: rotateKeysHelp,
		Example: `  guidon sign-in rotate-keys
  guidon sign-in rotate-keys --db postgres://guidon@db/guidon`,
		Local: cli.Local{
			Access: cli.Writing, Held: "stop that server first",
			Do: func(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
				number, err := addSecret(ctx, p, db.DB)
				if err == nil {
					err = db.DeleteSecrets(ctx, number-1)
				}
				return cli.Output{Table: cli.Line("made key %d and deleted the others; restart the servers", number)}, err
			},
		},
	})
}

// addSecret stores a new secret after all others, and returns its number.
func addSecret(ctx context.Context, p *cli.Program, store service.SecretStore) (int64, error) {
	for {
		secrets, err := store.Secrets(ctx)
		if err != nil {
			return 0, err
		}
		secret := service.Secret{Number: 1, CreatedAt: p.Now()}
		if len(secrets) > 0 {
			secret.Number = secrets[len(secrets)-1].Number + 1
		}
		_, _ = rand.Read(secret.Value[:]) // never fails
		added, err := store.AddSecret(ctx, secret)
		if added || err != nil {
			return secret.Number, err
		}
	}
}
