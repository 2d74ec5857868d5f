package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// OneArgument returns a check for exactly one argument. name is used in its errors.
func OneArgument(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return UsageError("missing argument <%s>: %s", name, command.UseLine())
		case len(args) > 1:
			return UsageError("unexpected argument %q: only one %s is allowed", args[1], name)
		case args[0] == "":
			return UsageError("the %s must not be empty", name)
		}
		return nil
	}
}

// Pairs parses the values of a key=value flag.
func Pairs(flag string, texts []string) (map[string]string, error) {
	values := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, UsageError("invalid %s %q: must have the form key=value", flag, text)
		}
		if _, twice := values[key]; twice {
			return nil, UsageError("duplicate key %q in %s", key, flag)
		}
		values[key] = value
	}
	return values, nil
}
