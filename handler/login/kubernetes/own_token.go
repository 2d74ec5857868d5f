package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/guidonhq/guidon/handler/login/provider"
)

// maxOwnToken is the maximum size of the file with our own token in bytes.
const maxOwnToken = 64 << 10

// ownToken is the token of the service's own account. Kubernetes replaces the file before
// the token expires.
type ownToken struct {
	path  string
	named bool // otherwise there need not be a file
}

// check returns an error if the token was named and cannot be read.
func (o *ownToken) check() error {
	if !o.named {
		return nil
	}
	_, err := o.read()
	return err
}

// read returns the token, or "" if there is no file and none was named.
func (o *ownToken) read() (string, error) {
	text, err := provider.ReadFile(o.path, maxOwnToken)
	if errors.Is(err, fs.ErrNotExist) && !o.named {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot read our own token: %w", err)
	}
	token := bytes.TrimSpace(text)
	unfit := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(token) == 0 || bytes.ContainsFunc(token, unfit) {
		return "", fmt.Errorf("file %s does not have a token", o.path)
	}
	return string(token), nil
}
