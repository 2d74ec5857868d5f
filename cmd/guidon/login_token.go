package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/guidonhq/guidon"
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
	server, err := dial(l.address, l.connection.options(token))
	if err != nil {
		return err
	}
	defer server.Close()
	self, err := getSelf(ctx, server)
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
	if !l.terminal(l.in) {
		return l.readLine(ctx, maxToken)
	}
	fmt.Fprint(l.err, "Token: ")
	file, ok := l.in.(*os.File)
	if !ok {
		return l.readLine(ctx, maxToken)
	}
	defer fmt.Fprintln(l.err)
	return readHidden(ctx, file)
}
