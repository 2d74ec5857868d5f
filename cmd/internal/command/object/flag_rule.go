package object

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

const ruleHelp = `Add, change, move and remove rules of a flag. They decide in order, and are counted from 1;
"guidon flag get" shows them. "guidon flag rollout" is enough for most flags.`

const rolloutHelp = `Roll a flag out to a share of everyone, or of some.

A boolean flag has one share of everyone: its rule is changed, or added after those for
others. With --segment or --if, it is on for the share of those, or for all of them. They
have a rule of their own, which is changed, or added before those for everyone.

A variant flag has shares of its variants for those of --segment and --if, or for everyone
with --everyone.

` + targetHelp + `

Whoever is within a share stays within it when it grows.`

const rolloutExample = `  guidon flag rollout new-checkout 10%
  guidon flag rollout new-checkout 50% -m "no complaints" --dry-run
  guidon flag rollout new-checkout 100% --over 3d
  guidon flag rollout new-checkout 100% --steps 5%:24h,25%:24h --confirm-every 24h --lapse back
  guidon flag rollout new-checkout 20% --if 'country eq SE'
  guidon flag rollout new-checkout --segment beta-users --segment staff
  guidon flag rollout new-checkout --if 'country eq SE' --or 'country eq NO' --except bots
  guidon flag rollout new-checkout 50% --everyone --requires new-api
  guidon flag rollout price-test high=50% low=50% --segment germany --by account
  guidon flag rollout christmas-banner 100% --from "2026-12-01 09:00" --until 2026-12-24`

// targetHelp describes the options for whom a rule is for, and how it divides them.
const targetHelp = `Every --if must hold, and so must one of the --segment; --or adds an alternative to the --if
before it. A constraint has the form of "guidon segment create --constraint", such as
'country eq SE', 'not version:app gte 2.4' or 'list:roles anyof ["admin"]'.

--by, --seed, --hash and --start say who is within the share of a boolean flag, and --by,
--seed and --hash which variant an entity gets. --portion limits a rule of a variant flag to
a part of the entities, by options of its own.

With --requires, the rule is passed over unless another flag is on, or answers as stated:
--requires new-api, --requires new-api=false or --requires price-test=b,c.

--from and --until say when the rule holds, such as 2026-12-01T09:00:00Z, "2026-12-01 09:00",
which is UTC, or 3d, which is in three days. Before and after, the rules after it decide.

--over and --steps make a ramp: the share reaches its percentage by itself. The other options
of a ramp may also change one that is there; --ramp-start begins it again. To set only a
percentage, end the ramp by --over 0. "guidon flag ramp" pauses and reverses it.`

// flagRules returns the verbs that change the rules of a flag.
func flagRules(k *keyed) []cli.Verb {
	rules := ruleVerbs{k}
	return []cli.Verb{rules.rollout(), rules.ramp(), {
		Use: "rule", Short: "Add, change, move and remove rules of a flag", Long: ruleHelp,
		Verbs: []cli.Verb{rules.add(), rules.set(), rules.move(), rules.remove()},
	}}
}

// ruleVerbs makes the verbs that change the rules of a flag.
type ruleVerbs struct{ *keyed }

// changing returns the verb whose change the rules of the flag, by the arguments after its key.
func (r ruleVerbs) changing(v cli.Verb, change func(f *ruled, args []string) error) cli.Verb {
	options := v.Options
	v.Names, v.Complete = "the key", cli.InOrder(r.complete)
	v.Options = func(command *cobra.Command) {
		r.dryRunFlag(command)
		if options != nil {
			options(command)
		}
	}
	v.Write = func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
		var changed *guidonv1.DocumentFlag
		output, err := r.rewrite(ctx, c, args[:1], func(d *guidonv1.Document) error {
			changed = flagOf(d)
			f := &ruled{changed, rulesOf(changed)}
			defer f.store()
			return change(f, args[1:])
		})
		if err == nil && !r.dryRun {
			output.Table = r.withRules(output.Table, changed)
		}
		return output, err
	}
	return v
}

// withRules returns the table followed by the rules of the flag.
func (r ruleVerbs) withRules(table func(io.Writer) error, f *guidonv1.DocumentFlag) func(io.Writer) error {
	return func(out io.Writer) error {
		if err := table(out); err != nil {
			return err
		}
		for i, line := range ruleLines(f, r.Now()) {
			if _, err := fmt.Fprintf(out, "    rule %d: %s\n", i+1, line); err != nil {
				return err
			}
		}
		if isTurnedOff(f) {
			fmt.Fprintf(r.Err, "the flag is off for everybody; \"guidon flag on %s\" turns it on\n", f.GetKey())
		}
		return nil
	}
}

// describing returns the verb with the options of a rule, and its use of them. They may be empty
// if they can be cleared.
func (r ruleVerbs) describing(v cli.Verb, clearable bool, change func(o *ruleOptions, f *ruled, args []string) error) cli.Verb {
	o := new(ruleOptions)
	more := v.Options
	v.Options = func(command *cobra.Command) {
		o.add(command, r.Program)
		if more != nil {
			more(command)
		}
	}
	v.Check = func(*cobra.Command) error { return o.check(clearable) }
	return r.changing(v, func(f *ruled, args []string) error { return change(o, f, args) })
}

func (r ruleVerbs) rollout() cli.Verb {
	return r.describing(cli.Verb{
		Use: "rollout <flag> [<percentage>|<variant>=<percentage>...]", Short: "Roll a flag out to a share of everyone, or of some",
		Long: rolloutHelp, Example: rolloutExample,
	}, false, func(o *ruleOptions, f *ruled, args []string) error {
		o.shares = args
		if isBoolean(f.DocumentFlag) && !o.targeted() {
			return o.rollOutToShare(f)
		}
		return o.rollOutToTarget(f)
	})
}

func (r ruleVerbs) add() cli.Verb {
	at := new(int)
	return r.describing(cli.Verb{
		Use: "add <flag> [<percentage>|<variant>=<percentage>...]", Short: "Add a rule to a flag",
		Long: `Add a rule, after all others or at the position --at. A rule of a boolean flag is for
a share of everyone, or for those of --segment and --if or a share of them; one of a variant
flag has shares of its variants for them, or --code-default.

` + targetHelp,
		Example: `  guidon flag rule add new-checkout 10%
  guidon flag rule add new-checkout --segment bots --value off --at 1
  guidon flag rule add price-test high=50% low=50% --segment germany --portion 10%
  guidon flag rule add price-test low=100% --everyone`,
		Options: func(command *cobra.Command) {
			command.Flags().IntVar(at, "at", 0, "number of the new rule; those from there on come after it (default: the last)")
		},
	}, false, func(o *ruleOptions, f *ruled, args []string) error {
		o.shares = args
		switch count := len(f.rules); {
		case !o.given("at"):
			return o.insert(f, count)
		case *at < 1 || *at > count+1:
			return cli.UsageError("invalid --at %d: must be from 1 to %d", *at, count+1)
		}
		return o.insert(f, *at-1)
	})
}

func (r ruleVerbs) set() cli.Verb {
	return r.describing(cli.Verb{
		Use: "set <flag> <rule> [<percentage>|<variant>=<percentage>...]", Short: "Change a rule of a flag",
		Long: `Change the rule with the number. What is not given stays as it is. An empty text, such as
--if '', removes what the option says; --everyone also removes segments and constraints.

` + targetHelp,
		Example: `  guidon flag rule set new-checkout 2 25%
  guidon flag rule set new-checkout 1 --segment staff --segment beta-users
  guidon flag rule set price-test 1 high=20% low=80%
  guidon flag rule set price-test 1 --except '' --portion 50%
  guidon flag rule set christmas-banner 1 --until ''
  guidon flag rule set new-checkout 2 --requires ''
  guidon flag rule set new-checkout 2 --over 0`,
	}, true, func(o *ruleOptions, f *ruled, args []string) error {
		at, err := f.index(args[0])
		if err != nil {
			return err
		}
		if o.shares = args[1:]; len(o.shares) == 0 && !o.anyGiven() {
			return cli.UsageError("nothing to change: give a percentage, shares, or an option such as --segment or --if")
		}
		return o.set(f, f.rules[at])
	})
}

func (r ruleVerbs) move() cli.Verb {
	return r.changing(cli.Verb{
		Use: "move <flag> <rule> <number>", Short: "Move a rule of a flag",
		Long:    `Move a rule, so that it has the given number.`,
		Example: `  guidon flag rule move new-checkout 3 1`,
	}, func(f *ruled, args []string) error {
		from, err := f.index(args[0])
		if err != nil {
			return err
		}
		to, err := f.index(args[1])
		if err != nil {
			return err
		}
		moved := f.rules[from]
		f.rules = slices.Insert(slices.Delete(f.rules, from, from+1), to, moved)
		return nil
	})
}

func (r ruleVerbs) remove() cli.Verb {
	return r.changing(cli.Verb{
		Use: "remove <flag> <rule>", Short: "Remove a rule of a flag",
		Long:    `Remove the rule with the number. "guidon undo" brings it back.`,
		Example: `  guidon flag rule remove new-checkout 2`,
	}, func(f *ruled, args []string) error {
		at, err := f.index(args[0])
		if err == nil {
			f.rules = slices.Delete(f.rules, at, at+1)
		}
		return err
	})
}
