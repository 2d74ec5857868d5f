package cli

import (
	"context"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// contextsFile returns the file of the contexts.
func (p *Program) contextsFile() (*machine.ContextsFile, error) {
	path := config.ContextsFile(p.Environ)
	if path == "" {
		return nil, errNoUserDir
	}
	return machine.ContextsIn(path), nil
}

// ReadContexts returns the contexts, or an empty set if the user has no configuration
// directory.
func (p *Program) ReadContexts() (*machine.Contexts, error) {
	if config.ContextsFile(p.Environ) == "" {
		return new(machine.Contexts), nil
	}
	file, err := p.contextsFile()
	if err != nil {
		return nil, err
	}
	return file.Read()
}

// UpdateContexts changes the contexts with fn.
func (p *Program) UpdateContexts(ctx context.Context, fn func(*machine.Contexts) error) error {
	file, err := p.contextsFile()
	if err != nil {
		return err
	}
	return file.Update(ctx, fn)
}
