package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// maxFile bounds a configuration file and every file that a _FILE variable
// names, in bytes.
const maxFile = 1 << 20

// systemFile is where a package puts the configuration (operations 2.1).
const systemFile = "/etc/guidon/config/default.yml"

// stateFolder is where the database is kept where somebody made it.
const stateFolder = "/var/opt/guidon"

// environment is the set variables by name. A variable that is set to nothing
// counts as unset.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := make(environment, len(environ))
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" {
			delete(env, name) // the last one wins
			continue
		}
		env[name] = value
	}
	return env
}

// Secrets fetches values that the configuration names by a reference.
type Secrets interface {
	// Knows tells whether the text is a reference.
	Knows(text string) bool
	// Fetch returns the value. Its error shows none.
	Fetch(ctx context.Context, reference string) (string, error)
}

// Load returns the configuration of the file, overridden by the environment, with
// the secrets fetched that are given by a reference; secrets is nil where there
// are none such.
// An empty path means the first of guidon/config.yml in the user's
// configuration folder and /etc/guidon/config/default.yml that exists, or the
// defaults alone.
//
// The error is an *[Error] with every problem there is, in the file, in the
// environment and in how values go together.
func Load(ctx context.Context, path string, environ []string, secrets Secrets) (*Config, error) {
	var found problems
	c := read(path, environ, &found)
	fetchSecrets(ctx, c, secrets, &found)
	c.check(&found)
	if err := found.err(); err != nil {
		return nil, err
	}
	return c, nil
}

// LoadServer returns the part server of the configuration that Load returns: for
// those who want to reach the server rather than to be one, and as often as that
// takes. No secret is fetched, and how the other values go together is not looked
// at.
func LoadServer(path string, environ []string) (Server, error) {
	var found problems
	c := read(path, environ, &found)
	c.Server.check(&found)
	return c.Server, found.err()
}

// read returns what the file and the environment say, and keeps the problems of
// either.
func read(path string, environ []string, found *problems) *Config {
	env := newEnvironment(environ)
	c := defaults(env)
	if path == "" {
		path = env.search()
	}
	if path != "" {
		loadFile(c, path, env, found)
	}
	loadEnvironment(c, env, found)
	return c
}

// fetchSecrets puts the values in the place of the references to them.
func fetchSecrets(ctx context.Context, c *Config, secrets Secrets, found *problems) {
	if secrets == nil {
		return
	}
	for _, f := range fields(c) {
		if !f.referable() || !secrets.Knows(f.value.String()) {
			continue
		}
		value, err := secrets.Fetch(ctx, f.value.String())
		if err == nil {
			err = f.set(value)
		}
		if err == nil {
			continue
		}
		found.key(f.key, err.Error())
		found.without(f.key)
		f.value.SetString("")
	}
}

func defaults(env environment) *Config {
	c := new(Config)
	for _, f := range fields(c) {
		text, ok := f.tag.Lookup("default")
		if !ok {
			continue
		}
		if err := f.set(text); err != nil {
			panic(fmt.Sprintf("default of %s: %v", f.key, err)) // a mistake in the table, found by any test
		}
	}
	c.DB.URL = env.databaseURL()
	return c
}

// databaseURL returns the default of db.url, or nothing where no folder is
// known to put the file in.
func (env environment) databaseURL() string {
	if info, err := os.Stat(stateFolder); err == nil && info.IsDir() {
		return "file:" + filepath.Join(stateFolder, "guidon.db")
	}
	folder := env.userFolder()
	if folder == "" {
		return ""
	}
	return "file:" + filepath.Join(folder, "guidon.db")
}

// DefaultDatabase returns db.url where nothing sets it, or nothing if no folder is
// known to put the file in.
func DefaultDatabase(environ []string) string {
	return newEnvironment(environ).databaseURL()
}

// UserFile returns the configuration file of the user, or nothing where no such
// folder is known.
func UserFile(environ []string) string {
	return newEnvironment(environ).userFile()
}

func (env environment) userFile() string {
	folder := env.userFolder()
	if folder == "" {
		return ""
	}
	return filepath.Join(folder, "config.yml")
}

// userFolder returns our folder in the user's configuration folder.
func (env environment) userFolder() string {
	base := env["XDG_CONFIG_HOME"]
	if !filepath.IsAbs(base) {
		base = ""
	}
	if base == "" && runtime.GOOS == "linux" && env["HOME"] != "" {
		base = filepath.Join(env["HOME"], ".config")
	}
	if base == "" && runtime.GOOS != "linux" {
		base, _ = os.UserConfigDir() // none is no problem as long as db.url is set
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "guidon")
}

// search returns the file that is used when none is named. One that exists but
// cannot be looked at is returned too, so that the reason is told.
func (env environment) search() string {
	for _, path := range []string{env.userFile(), systemFile} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			return path
		}
	}
	return ""
}

// readFile returns the content of a file within the bound.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path) // #nosec G304 -- the operator's own choice
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return content, nil
}
