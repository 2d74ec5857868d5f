package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/machine"
)

// defaulted is the annotation of flags that setDefaults sets if they are not given: the
// address and the namespace.
const defaulted = "defaulted"

// orLocal is the annotation of the address if a command has no --db, but prefers what the
// configuration names to the context in use.
const orLocal = "or-local"

// OrLocal lets the command prefer what the configuration names to the context in use.
func OrLocal(command *cobra.Command) {
	_ = command.Flags().SetAnnotation("address", orLocal, []string{"true"}) // the flag exists
}

// NamespaceFlag adds the flag for the namespace that a command works on.
func NamespaceFlag(command *cobra.Command, namespace *string) {
	flags := command.Flags()
	flags.StringVarP(namespace, "namespace", "n", guidon.DefaultNamespace,
		"`key` of the namespace (also: GUIDON_NAMESPACE, or that of the context in use)")
	MarkNamespace(command, "namespace")
}

// MarkNamespace makes the default of the flag that of the environment or the context.
func MarkNamespace(command *cobra.Command, name string) {
	_ = command.Flags().SetAnnotation(name, defaulted, []string{"true"}) // the flag exists
}

// Defaults are the values that commands use for flags that are not given.
type Defaults struct {
	Address   string // "" for the local database
	namespace string // "" for that of the service
	CaFile    string
}

// setDefaults sets the server and the namespace of a command from the environment and the
// context in use, unless flags do. The name of a context becomes its address.
func (p *Program) setDefaults(command *cobra.Command) error {
	address, namespace := defaultedFlag(command, "address"), defaultedFlag(command, "namespace")
	if namespace == nil {
		namespace = defaultedFlag(command, "namespaces")
	}
	if address == nil && namespace == nil {
		return nil
	}
	if err := NotEmpty(command, "namespace", "namespaces"); err != nil {
		return err
	}
	if timeout, err := command.Flags().GetDuration("timeout"); err == nil && timeout <= 0 && isConnection(command.Flags().Lookup("timeout")) {
		return UsageError("--timeout must be more than 0")
	}
	d, err := p.defaults(command.Flags())
	if err != nil {
		return err
	}
	if address != nil {
		if err := address.Value.Set(d.Address); err != nil {
			return err
		}
		if caFile := command.Flags().Lookup("ca-file"); !caFile.Changed && d.Address != "" {
			if err := caFile.Value.Set(d.CaFile); err != nil {
				return err
			}
		}
	}
	if namespace != nil && !namespace.Changed && d.namespace != "" {
		return namespace.Value.Set(d.namespace)
	}
	return nil
}

// defaultedFlag returns the flag of the command with the name if it has a default of
// setDefaults, or nil.
func defaultedFlag(command *cobra.Command, name string) *pflag.Flag {
	if flag := command.Flags().Lookup(name); flag != nil && flag.Annotations[defaulted] != nil {
		return flag
	}
	return nil
}

// defaults returns the defaults for a command with the flags.
func (p *Program) defaults(flags *pflag.FlagSet) (Defaults, error) {
	settings := config.ClientFrom(p.Environ)
	d := Defaults{namespace: settings.Namespace}
	given := flags.Lookup("address")
	if named := flags.Lookup("context"); isConnection(named) && named.Changed {
		if d.Address = named.Value.String(); !machine.IsContextName(d.Address) {
			return d, UsageError("invalid --context %q: must be the name of a context; \"guidon context list\" shows them", d.Address)
		}
	} else if given != nil && given.Changed {
		d.Address = given.Value.String()
		if d.Address == "" {
			return d, UsageError("--address must not be empty; --local selects the configured database")
		}
	} else if given == nil || anyChanged(flags, "db", "local") {
		return d, nil
	} else {
		d.Address = settings.Address
	}
	local := flags.Lookup("db") != nil || given.Annotations[orLocal] != nil
	if d.Address == "" && local && (settings.Database || anyChanged(flags, "config")) {
		return d, nil // the environment, or a flag, names a database
	}
	return p.InContext(d, settings)
}

func anyChanged(flags *pflag.FlagSet, names ...string) bool {
	return slices.ContainsFunc(names, flags.Changed)
}

// InContext completes the defaults with the context that the address names or, if it is
// empty, with the one in use. For a URL, it completes only the authorities.
func (p *Program) InContext(d Defaults, settings config.Client) (Defaults, error) {
	d.CaFile = settings.CAFile
	all, err := p.ReadContexts()
	if err != nil {
		return d, err
	}
	name := d.Address
	if strings.Contains(name, "://") {
		if normalized, err := client.Normalize(name); err == nil {
			p.use(&d, all, all.At(normalized))
		}
		return d, nil // an invalid address is an error of the client
	}
	name = cmp.Or(name, all.Current)
	if name == "" {
		return d, nil
	}
	if !machine.IsContextName(name) || all.Named[name].Address == "" {
		return d, p.noContext(all, name)
	}
	p.use(&d, all, name)
	d.Address = all.Named[name].Address
	d.namespace = cmp.Or(d.namespace, all.Named[name].Namespace)
	return d, nil
}

// use completes the defaults with what every address of the context's server has. The context
// need not exist.
func (p *Program) use(d *Defaults, all *machine.Contexts, name string) {
	d.CaFile = cmp.Or(d.CaFile, all.Named[name].CAFile)
	if all.Named[name].Protected {
		p.protected = name
	}
}

// noContext returns the error for an address that is neither a URL nor a context.
func (p *Program) noContext(all *machine.Contexts, address string) error {
	if _, err := client.Normalize(address); err != nil && !machine.IsContextName(address) {
		return UsageError("%w", err)
	}
	_, err := all.Get(address)
	return UsageError("%w; a URL must have the form http://host:8080 or grpc://host:9000", err)
}
