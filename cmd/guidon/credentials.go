package main

import (
	"fmt"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

var errNoUserDir = usageError("cannot determine the user's configuration directory; set HOME or XDG_CONFIG_HOME")

// credentials returns the file of the tokens that "guidon login" obtained.
func (p *program) credentials() (*machine.CredentialsFile, error) {
	path := config.CredentialsFile(p.environ)
	if path == "" {
		return nil, errNoUserDir
	}
	return machine.CredentialsIn(path), nil
}

// storedToken returns the token that "guidon login" obtained for the address, or "" if
// there is none.
func (p *program) storedToken(address string) (string, error) {
	p.unauthenticated = fmt.Sprintf("Sign in with \"%s\", or provide a token that permits this operation with GUIDON_TOKEN, --token-file or --token.", loginCommand(address))
	if config.CredentialsFile(p.environ) == "" {
		return "", nil
	}
	file, err := p.credentials()
	if err != nil {
		return "", err
	}
	credential, ok, err := file.Get(address)
	if ok {
		p.unauthenticated = fmt.Sprintf("The stored token for this server has expired or was revoked; run \"%s\".", loginCommand(address))
	}
	return credential.Token, err
}

// loginCommand returns the command to sign in to the server at the address.
func loginCommand(address string) string {
	if !opensInBrowser(address) {
		return "guidon login --token --address " + address
	}
	return "guidon login --address " + address
}

// opensInBrowser reports whether the normalized address is one for browsers.
func opensInBrowser(address string) bool { return strings.HasPrefix(address, "http") }
