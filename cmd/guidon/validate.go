package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
)

const validateHelp = `Check files of flags and segments without a server or a database: syntax, all
validation rules, and references.

If there are problems, it prints them and exits with 3. Otherwise it prints a summary
of each file.`

func (p *program) validateCommand() *cobra.Command {
	var format formatFlag
	command := &cobra.Command{
		Use:   "validate <file>... | -",
		Short: "Check files of flags and segments",
		Long:  validateHelp,
		Example: `  guidon validate shop.yaml
  guidon validate flags/*.yaml
  guidon export | guidon validate -`,
		RunE: p.action(func(_ context.Context, paths []string) error { return p.validate(paths, &format) }),
	}
	command.Flags().Var(&format, "format", "format of the files (default: by their extensions)")
	_ = command.RegisterFlagCompletionFunc("format", completeFormat) // the flag exists
	return command
}

func (p *program) validate(paths []string, format *formatFlag) error {
	if err := checkFiles(paths); err != nil {
		return err
	}
	wrong := false
	for _, path := range paths {
		if err := plainReason(p.validateFile(path, format)); err != nil {
			wrong = true
			for line := range strings.Lines(err.Error()) {
				fmt.Fprintf(p.out, "%s: %s\n", streamName(path), strings.TrimSpace(line))
			}
		}
	}
	if wrong {
		return findings
	}
	return nil
}

// validateFile returns all problems of the file in one error, one line for each.
func (p *program) validateFile(path string, format *formatFlag) error {
	documents, err := p.readFile(path, format)
	if err != nil {
		return err
	}
	var found []string
	flags, segments := 0, 0
	for _, d := range documents {
		flags, segments = flags+len(d.Flags), segments+len(d.Segments)
		if err := d.Validate(); err != nil {
			for line := range strings.Lines(err.Error()) {
				found = append(found, fmt.Sprintf("namespace %q: %s", guidon.NamespaceKey(d.Namespace.Key), strings.TrimSpace(line)))
			}
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("%s", strings.Join(found, "\n"))
	}
	fmt.Fprintf(p.out, "%s: valid (namespaces %d, flags %d, segments %d)\n", streamName(path), len(documents), flags, segments)
	return nil
}
