package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/config"
)

// Context is a server with the settings for it.
type Context struct {
	Address   string `yaml:"address" json:"address"`                         // a URL of the server; see client.Dial
	Namespace string `yaml:"namespace,omitempty" json:"namespace,omitempty"` // used by default; "" for that of the service
	CAFile    string `yaml:"ca_file,omitempty" json:"caFile,omitempty"`      // authorities that the server's certificate may be from; "" for those of the system
	Protected bool   `yaml:"protected,omitempty" json:"protected,omitempty"` // every change is confirmed first
}

// Contexts are all contexts of a user.
type Contexts struct {
	Current string             `yaml:"current,omitempty"` // the name of the one in use, or ""
	Named   map[string]Context `yaml:"contexts"`
}

// Names returns the names, sorted.
func (c *Contexts) Names() []string { return slices.Sorted(maps.Keys(c.Named)) }

// Get returns the context with the name, or an error that lists the names there are.
func (c *Contexts) Get(name string) (Context, error) {
	if found, ok := c.Named[name]; ok {
		return found, nil
	}
	if len(c.Named) == 0 {
		return Context{}, fmt.Errorf("there is no context %q; \"guidon context set\" and \"guidon login\" create them", name)
	}
	return Context{}, fmt.Errorf("there is no context %q; there are %q", name, c.Names())
}

// At returns the name of the context for the server at the normalized address, or "". If there are
// several, it prefers the current one, and then the first by name.
func (c *Contexts) At(address string) string {
	names := c.Names()
	if c.Current != "" {
		names = slices.Insert(names, 0, c.Current)
	}
	for _, name := range names {
		if normalized, err := client.Normalize(c.Named[name].Address); err == nil && normalized == address {
			return name
		}
	}
	return ""
}

var contextName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// IsContextName reports whether the text may be the name of a context: up to 64 letters, digits,
// dots, hyphens and underscores, of which the first is a letter or digit.
func IsContextName(text string) bool { return contextName.MatchString(text) }

// check returns an error about the first problem of the contexts, or nil.
func (c *Contexts) check() error {
	for _, name := range c.Names() {
		if !IsContextName(name) {
			return fmt.Errorf("contexts: %q must have at most 64 letters, digits, dots, hyphens and underscores", name)
		}
		if _, err := client.Normalize(c.Named[name].Address); err != nil {
			return fmt.Errorf("contexts.%s.address: %w", name, err)
		}
	}
	if _, ok := c.Named[c.Current]; !ok && c.Current != "" {
		return fmt.Errorf("current: there is no context %q", c.Current)
	}
	return nil
}

// ContextsFile is a file of contexts, which need not exist. Its methods are safe for concurrent use
// by several processes.
type ContextsFile struct{ path string }

// ContextsIn returns the file with the path.
func ContextsIn(path string) *ContextsFile { return &ContextsFile{path: path} }

// Read returns the contexts, or an empty set if the file does not exist.
func (f *ContextsFile) Read() (*Contexts, error) {
	c := &Contexts{Named: make(map[string]Context)}
	content, err := config.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	decoder.KnownFields(true)
	if err := decoder.Decode(c); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w; repair or delete the file", f.path, err)
	}
	if c.Named == nil {
		c.Named = make(map[string]Context)
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%s: %w; repair or delete the file", f.path, err)
	}
	return c, nil
}

// Update changes the contexts with fn. Of several processes, one at a time does. If fn or
// the result is invalid, the file does not change.
func (f *ContextsFile) Update(ctx context.Context, fn func(*Contexts) error) error {
	return updateFile(ctx, f.path, func() ([]byte, error) {
		c, err := f.Read()
		if err == nil {
			err = fn(c)
		}
		if err == nil {
			err = c.check()
		}
		if err != nil {
			return nil, err
		}
		var content bytes.Buffer
		encoder := yaml.NewEncoder(&content)
		encoder.SetIndent(2)
		err = errors.Join(encoder.Encode(c), encoder.Close())
		return content.Bytes(), err
	})
}
