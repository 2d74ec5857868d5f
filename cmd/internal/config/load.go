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

// maxFile is the maximum size of a configuration file, or of a file that a _FILE
// variable names, in bytes.
const maxFile = 1 << 20

// systemFile is the system-wide configuration file (operations 2.1).
const systemFile = "/etc/guidon/config/default.yml"

// stateDir is the default directory of the database, if it exists.
const stateDir = "/var/opt/guidon"

// environment maps the names of variables to their values. Empty variables count as
// not set.
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

// Secrets fetches values to which the configuration refers.
type Secrets interface {
	// Knows reports whether the string is a reference.
	Knows(text string) bool
	// Fetch returns the value. Its error must not contain the value.
	Fetch(ctx context.Context, reference string) (string, error)
}

// Load returns the configuration in the file, overridden by the environment. References
// are replaced with the values that secrets fetches, unless secrets is nil.
// If path is empty, Load reads guidon/config.yml in the user's configuration directory,
// or else /etc/guidon/config/default.yml, or else no file.
//
// The error is an *[Error] with all problems of the file, the environment and the
// combination of values.
func Load(ctx context.Context, path string, environ []string, secrets Secrets) (*Config, error) {
	return load(ctx, environ, secrets, fileAt(path))
}

// LoadText is Load with the text of a file. The problems name the file by path.
func LoadText(ctx context.Context, path string, text []byte, environ []string, secrets Secrets) (*Config, error) {
	return load(ctx, environ, secrets, func(c *Config, env environment, found *problems) { loadText(c, path, text, env, found) })
}

// loadFunc applies the settings of a file, and adds its problems to found.
type loadFunc func(c *Config, env environment, found *problems)

func load(ctx context.Context, environ []string, secrets Secrets, file loadFunc) (*Config, error) {
	var found problems
	c := read(environ, file, &found)
	fetchSecrets(ctx, c, secrets, &found)
	env := newEnvironment(environ)
	unused := c.DB.combine(env.databaseURL(), &found)
	c.check(&found)
	if err := found.err(); err != nil {
		return nil, err
	}
	c.Warnings = c.warnings(env, unused)
	return c, nil
}

// LoadServer returns only the Server part of the configuration, for programs that
// connect to the server. It fetches no secrets and does not check the combination of
// the other values, so it can be called often.
func LoadServer(path string, environ []string) (Server, error) {
	var found problems
	c := read(environ, fileAt(path), &found)
	c.Server.check(&found)
	return c.Server, found.err()
}

// read returns the configuration of the file and the environment, and adds their
// problems to found.
func read(environ []string, file loadFunc, found *problems) *Config {
	env := newEnvironment(environ)
	c := defaults()
	file(c, env, found)
	loadEnvironment(c, env, found)
	return c
}

// fileAt loads the file at the path, or if that is empty, the one that Load finds.
func fileAt(path string) loadFunc {
	return func(c *Config, env environment, found *problems) {
		if path == "" {
			path = env.search()
		}
		if path != "" {
			loadFile(c, path, env, found)
		}
	}
}

// fetchSecrets replaces references with their values.
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

func defaults() *Config {
	c := new(Config)
	for _, f := range fields(c) {
		f.setDefault()
	}
	return c
}

// databaseURL returns the default of db.url, or "" if no directory for the file is
// known.
func (env environment) databaseURL() string {
	if info, err := os.Stat(stateDir); err == nil && info.IsDir() {
		return "file:" + filepath.Join(stateDir, "guidon.db")
	}
	dir := env.userDir()
	if dir == "" {
		return ""
	}
	return "file:" + filepath.Join(dir, "guidon.db")
}

// DefaultDatabase returns the default of db.url, or "" if no directory for the file is
// known.
func DefaultDatabase(environ []string) string {
	return newEnvironment(environ).databaseURL()
}

// UserFile returns the user's configuration file, or "" if no configuration directory
// is known.
func UserFile(environ []string) string {
	return newEnvironment(environ).userFile()
}

// FileInUse returns the file that Load reads without a path, or "" if it finds no file.
func FileInUse(environ []string) string { return newEnvironment(environ).search() }

func (env environment) userFile() string { return env.inUserDir("config.yml") }

// CredentialsFile returns the file of the tokens that "guidon login" obtained, or "" if no
// configuration directory is known.
func CredentialsFile(environ []string) string {
	return newEnvironment(environ).inUserDir("credentials.json")
}

// inUserDir returns a path in guidon's directory in the user's configuration directory, or
// "" if that is not known.
func (env environment) inUserDir(name string) string {
	dir := env.userDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

// userDir returns guidon's directory in the user's configuration directory, or "".
func (env environment) userDir() string {
	base := env["XDG_CONFIG_HOME"]
	if !filepath.IsAbs(base) {
		base = ""
	}
	if base == "" && runtime.GOOS == "linux" && env["HOME"] != "" {
		base = filepath.Join(env["HOME"], ".config")
	}
	if base == "" && runtime.GOOS != "linux" {
		base, _ = os.UserConfigDir() // an error does not matter if db.url is set
	}
	if base == "" {
		return ""
	}
	return filepath.Join(base, "guidon")
}

// search returns the file to use if none is specified, or "". It returns an inaccessible
// file as well, so that reading it reports the reason.
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

// ReadFile returns the content of a configuration file, which has at most 1 MiB.
func ReadFile(path string) ([]byte, error) {
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
