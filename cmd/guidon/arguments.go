package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// oneArgument returns a check for exactly one argument. name is used in its errors.
func oneArgument(name string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) == 0:
			return usageError("missing argument <%s>: %s", name, command.UseLine())
		case len(args) > 1:
			return usageError("unexpected argument %q: only one %s is allowed", args[1], name)
		case args[0] == "":
			return usageError("the %s must not be empty", name)
		}
		return nil
	}
}

// flagOfEntities checks that a flag is the only argument: entities are given as options.
func flagOfEntities(command *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError("unexpected argument %q: only one flag is allowed; name an entity with --entity-id", args[1])
	}
	return oneArgument("flag")(command, args)
}

// pairs parses the values of a key=value flag.
func pairs(flag string, texts []string) (map[string]string, error) {
	values := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, ok := strings.Cut(text, "=")
		if !ok || key == "" {
			return nil, usageError("invalid %s %q: must have the form key=value", flag, text)
		}
		if _, twice := values[key]; twice {
			return nil, usageError("duplicate key %q in %s", key, flag)
		}
		values[key] = value
	}
	return values, nil
}
