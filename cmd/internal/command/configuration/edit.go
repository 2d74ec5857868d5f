package configuration

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

func configEditCommand(p *cli.Program) *cobra.Command {
	return p.Command(cli.Verb{
		Use: "edit", Short: "Edit the configuration file and check it",
		Long: `Open the configuration file in an editor: that of --config, or the one that the
server would find. If there is none, it is made from what "guidon config init"
writes. The editor is that of $VISUAL or $EDITOR, which may have arguments, or else
the usual one of the system.

The file is replaced, as a whole, only if the edited configuration has no errors.
Otherwise they are printed, and you can edit again. Servers read the file when they
start.`,
		Example: `  guidon config edit
  EDITOR='code --wait' guidon config edit --config guidon.yml`,
		Run: func(ctx context.Context, _ []string) error { return configEdit(ctx, p) },
	})
}

func configEdit(ctx context.Context, p *cli.Program) error {
	file, err := editedConfig(p)
	if err != nil {
		return err
	}
	var warnings []string
	err = p.Revise(ctx, "config.yml", file.text, func(edited []byte) error {
		c, err := config.LoadText(ctx, file.path, edited, p.Environ, &p.AWS)
		if err != nil {
			return err
		}
		if err := checkConnections(ctx, p, *c); err != nil {
			return err
		}
		warnings = c.Warnings
		return file.replace(edited)
	})
	if errors.Is(err, cli.ErrUnedited) {
		fmt.Fprintln(p.Err, err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		fmt.Fprintln(p.Err, "warning: "+warning)
	}
	fmt.Fprintf(p.Out, "wrote %s; restart the server to use it\n", file.path)
	return nil
}

// configFile is a configuration file to edit.
type configFile struct {
	path, target string // target is what path links to
	stored       []byte // nil if there is no file
	text         []byte // to begin with
	mode         fs.FileMode
}

// editedConfig returns the file to edit, which can be written.
func editedConfig(p *cli.Program) (*configFile, error) {
	path := cmp.Or(p.ConfigFile, config.FileInUse(p.Environ), config.UserFile(p.Environ))
	if path == "" {
		return nil, cli.UsageError("cannot determine the user's configuration directory; specify a file with --config")
	}
	file := &configFile{path: path, target: machine.FileTarget(path), text: []byte(config.Template()), mode: 0o600}
	info, err := os.Stat(file.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if file.stored, err = config.ReadFile(file.target); err != nil {
		return nil, err
	}
	file.text, file.mode = file.stored, info.Mode().Perm()
	return file, file.checkWritable()
}

// checkWritable returns an error if the file could not be replaced, so that users do not edit
// it in vain.
func (f *configFile) checkWritable() error {
	probe, err := os.CreateTemp(filepath.Dir(f.target), ".guidon-*")
	if err == nil {
		err = errors.Join(probe.Close(), os.Remove(probe.Name()))
	}
	if err == nil && runtime.GOOS != "windows" && f.mode&0o222 == 0 {
		err = errors.New("the file is read-only")
	}
	if err != nil {
		return fmt.Errorf("cannot change %s: %w", f.path, cli.PlainReason(err))
	}
	return nil
}

// replace writes the edited text, unless the file has been changed meanwhile.
func (f *configFile) replace(edited []byte) error {
	current, err := config.ReadFile(f.target)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.stored == nil:
		if err := os.MkdirAll(filepath.Dir(f.target), 0o700); err != nil {
			return err
		}
	case err != nil:
		return err
	case f.stored == nil || !bytes.Equal(current, f.stored):
		return fmt.Errorf("%s was changed by somebody else while you edited it", f.path)
	}
	return cli.WriteError(f.path, machine.ReplaceFile(f.target, f.mode, func(w io.Writer) error {
		_, err := w.Write(edited)
		return err
	}))
}
