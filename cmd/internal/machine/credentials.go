package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// maxFile limits the file of credentials, in bytes.
const maxFile = 1 << 20

// Credential is the token for one server.
type Credential struct {
	Token string `json:"token"`
	// Session is whether signing in created the token, so that signing out revokes it. A
	// token that the user supplied may be in use elsewhere.
	Session bool `json:"session"`
}

// CredentialsFile is a file of credentials, which need not exist. Addresses must be in the form of
// client.Normalize. Its methods are safe for concurrent use by several processes.
type CredentialsFile struct{ path string }

// CredentialsIn returns the file with the path.
func CredentialsIn(path string) *CredentialsFile { return &CredentialsFile{path: path} }

// Path returns the path of the file.
func (f *CredentialsFile) Path() string { return f.path }

// servers is the only member of the file. It has an entry for each address.
const servers = "servers"

// entries are the members of an object in the file. Those that are malformed stay until they are replaced.
type entries map[string]json.RawMessage

// Get returns the credential for the server at the address, and whether there is one. It
// returns an error if other users can read the file.
func (f *CredentialsFile) Get(address string) (Credential, bool, error) {
	all, err := f.read()
	raw, ok := all[servers][address]
	if err != nil || !ok {
		return Credential{}, false, err
	}
	var c Credential
	if json.Unmarshal(raw, &c) != nil || c.Token == "" { // its error could contain the token
		return Credential{}, false, fmt.Errorf("%s: the entry of %s is malformed; sign in again, or delete the file", f.path, address)
	}
	return c, true, nil
}

// Set stores the credential for the server at the address.
func (f *CredentialsFile) Set(ctx context.Context, address string, c Credential) error {
	return f.update(ctx, func(servers entries) (err error) {
		servers[address], err = json.Marshal(c)
		return err
	})
}

// Remove removes the credential for the server at the address if it has the token:
// another process may have signed in again.
func (f *CredentialsFile) Remove(ctx context.Context, address, token string) error {
	return f.update(ctx, func(servers entries) error {
		var c Credential
		if json.Unmarshal(servers[address], &c) == nil && c.Token == token {
			delete(servers, address)
		}
		return nil
	})
}

// Prepare returns an error if the file cannot be used, so that users do not sign in in vain.
func (f *CredentialsFile) Prepare(ctx context.Context) error {
	lock, err := lockFile(ctx, f.path)
	if err != nil {
		return err
	}
	_, err = f.read()
	return errors.Join(err, lock.Release())
}

// update changes the entries of the servers. Of several processes, one at a time does.
func (f *CredentialsFile) update(ctx context.Context, change func(servers entries) error) error {
	return updateFile(ctx, f.path, func() ([]byte, error) {
		all, err := f.read()
		if err == nil {
			err = change(all[servers])
		}
		if err != nil {
			return nil, err
		}
		content, err := json.MarshalIndent(all, "", "  ")
		if len(content) >= maxFile {
			err = errors.New("too many credentials: the file would be larger than 1 MiB")
		}
		return append(content, '\n'), err
	})
}

// read returns the members of the file, with the entries of the servers. They are empty if there is
// no file.
func (f *CredentialsFile) read() (map[string]entries, error) {
	all := map[string]entries{servers: {}}
	content, err := readPrivate(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return all, nil
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(content)) == 0:
		return all, nil
	}
	// The error of package json could contain a part of a token.
	if json.Unmarshal(content, &all) != nil || all[servers] == nil {
		return nil, fmt.Errorf("%s is not a JSON object, in which servers must be an object; repair or delete it, and sign in again", f.path)
	}
	return all, nil
}

// readPrivate returns the content of the file, which has at most maxFile bytes. It returns an
// error if other users can read or change it.
func readPrivate(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s must be a regular file", path)
	}
	file, err := os.Open(path) // #nosec G304 -- in the user's own configuration directory
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return nil, fmt.Errorf("%s contains tokens, but other users can access it (mode %04o); run: chmod 600 %s", path, mode, path)
	}
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err == nil && len(content) > maxFile {
		return nil, fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return content, err
}
