package object

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/service"
)

// queryFlag adds the option that selects objects.
func (k *keyed) queryFlag(command *cobra.Command) {
	command.Flags().StringVarP(&k.query, "query", "q", "", "only "+k.kind+"s that match these `words`")
	if k.completeQuery != nil {
		_ = command.RegisterFlagCompletionFunc("query", k.completeQuery) // the flag exists
	}
}

// ofSeveral returns the verb for several objects, which the arguments name or --query selects.
func (k *keyed) ofSeveral(v cli.Verb) cli.Verb {
	options := v.Options
	v.Use += " <" + k.kind + ">..."
	v.Complete, v.Args = k.complete, k.severalKeys
	v.Options = func(command *cobra.Command) {
		k.queryFlag(command)
		k.dryRunFlag(command)
		if options != nil {
			options(command)
		}
	}
	return v
}

// severalKeys checks the arguments of a command about several objects.
func (k *keyed) severalKeys(command *cobra.Command, keys []string) error {
	switch queried := command.Flags().Changed("query"); {
	case queried && len(keys) > 0:
		return cli.UsageError("give either --query or the keys of %ss", k.kind)
	case !queried && len(keys) == 0:
		return cli.UsageError("missing argument <%s>: %s", k.kind, command.UseLine())
	case queried && strings.TrimSpace(k.query) == "":
		return cli.UsageError("--query must not be empty")
	case len(keys) > service.MaxEdits:
		return cli.UsageError("at most %d %ss can be changed at once; got %d", service.MaxEdits, k.kind, len(keys))
	}
	seen := make(map[string]bool)
	for _, key := range keys {
		if key == "" {
			return cli.UsageError("the %s must not be empty", k.kind)
		}
		if seen[key] {
			return cli.UsageError("%s %q is given twice", k.kind, key)
		}
		seen[key] = true
	}
	return nil
}

// selected returns the keys of the arguments or, without any, those that --query selects. What a
// query selects is confirmed before it is changed; what is the action, such as "turns off".
func (k *keyed) selected(ctx context.Context, c client.Client, args []string, what string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	k.limit = service.MaxEdits + 1
	found, err := k.list(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case len(found.Names) == 0:
		return nil, guidon.Errorf(guidon.NotFound, "no %s in %s matches %q", k.kind, k.Place(), k.query)
	case len(found.Names) > service.MaxEdits:
		return nil, fmt.Errorf("more than %d %ss match, which is the most that can be changed at once", service.MaxEdits, k.kind)
	case k.dryRun:
		return found.Names, nil
	}
	return found.Names, k.Confirm(fmt.Sprintf("This %s in %s: %s %s\n", what, k.Place(), k.kind, strings.Join(found.Names, ", ")))
}

// together returns the outputs, which must not be none, as one: of the one object that is named its
// own, of several and of a query a list.
func (k *keyed) together(outputs []cli.Output) cli.Output {
	if len(outputs) == 1 && k.query == "" {
		return outputs[0]
	}
	var all cli.Output
	for _, o := range outputs {
		all.Names = append(all.Names, o.Names...)
	}
	all.Table = func(out io.Writer) error {
		for _, o := range outputs {
			if err := o.Table(out); err != nil {
				return err
			}
		}
		return nil
	}
	all.Data = cli.DataOfEach(outputs, func(o cli.Output) ([]byte, error) { return o.Data() })
	return all
}
