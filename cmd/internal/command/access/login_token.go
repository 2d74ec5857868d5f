package access

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

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
