package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// ReadContexts returns the contexts, or an empty set if the user has no configuration
// directory.
func (p *Program) ReadContexts() (*machine.Contexts, error) {
	path := config.ContextsFile(p.Environ)
	if path == "" {
		return new(machine.Contexts), nil
	}
	return machine.ContextsIn(path).Read()
}

// UpdateContexts changes the contexts with fn.
func (p *Program) UpdateContexts(ctx context.Context, fn func(*machine.Contexts) error) error {
	path := config.ContextsFile(p.Environ)
	if path == "" {
		return errNoUserDir
	}
	return machine.ContextsIn(path).Update(ctx, fn)
}

var errNoUserDir = UsageError("cannot determine the user's configuration directory; set HOME or XDG_CONFIG_HOME")

// Credentials returns the file of the tokens that "guidon login" obtained.
func (p *Program) Credentials() (*machine.CredentialsFile, error) {
	path := config.CredentialsFile(p.Environ)
	if path == "" {
		return nil, errNoUserDir
	}
	return machine.CredentialsIn(path), nil
}

// StoredToken returns the token that "guidon login" obtained for the address, or "" if
// there is none.
func (p *Program) StoredToken(address string) (string, error) {
	p.Unauthenticated = fmt.Sprintf("Sign in with \"%s\", or provide a token that permits this operation with GUIDON_TOKEN, --token-file or --token.", loginCommand(address))
	path := config.CredentialsFile(p.Environ)
	if path == "" {
		return "", nil
	}
	credential, ok, err := machine.CredentialsIn(path).Get(address)
	if ok {
		p.Unauthenticated = fmt.Sprintf("The stored token for this server has expired or was revoked; run \"%s\".", loginCommand(address))
	}
	return credential.Token, err
}

// loginCommand returns the command to sign in to the server at the address.
func loginCommand(address string) string {
	if !OpensInBrowser(address) {
		return "guidon login --token --address " + address
	}
	return "guidon login --address " + address
}

// OpensInBrowser reports whether the normalized address is one for browsers.
func OpensInBrowser(address string) bool { return strings.HasPrefix(address, "http") }
