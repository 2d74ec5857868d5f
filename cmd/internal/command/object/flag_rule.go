package object

import (
	"context"
	"fmt"
	"io"

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
func flagRules(k *keyed) []verb {
	rules := ruleVerbs{k}
	return []verb{rules.rollout(), rules.ramp(), {
		use: "rule", short: "Add, change, move and remove rules of a flag", long: ruleHelp,
		verbs: []verb{rules.add(), rules.set(), rules.move(), rules.remove()},
	}}
}

// ruleVerbs makes the verbs that change the rules of a flag.
type ruleVerbs struct{ *keyed }

// changing returns the verb whose change the rules of the flag, by the arguments after its key.
func (r ruleVerbs) changing(v verb, change func(f *guidonv1.DocumentFlag, args []string) error) verb {
	options := v.options
	v.names, v.complete = "the key", cli.FirstArgument(r.complete)
	v.options = func(command *cobra.Command) {
		r.dryRunFlag(command)
		if options != nil {
			options(command)
		}
	}
	v.write = func(ctx context.Context, c client.Client, args []string) (cli.Output, error) {
		var changed *guidonv1.DocumentFlag
		output, err := r.rewrite(ctx, c, args[:1], func(d *guidonv1.Document) error {
			changed = flagOf(d)
			return change(changed, args[1:])
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
func (r ruleVerbs) describing(v verb, clearable bool, change func(o *ruleOptions, f *guidonv1.DocumentFlag, args []string) error) verb {
	o := new(ruleOptions)
	more := v.options
	v.options = func(command *cobra.Command) {
		o.add(command, r.Program)
		if more != nil {
			more(command)
		}
	}
	v.check = func(*cobra.Command) error { return o.check(clearable) }
	return r.changing(v, func(f *guidonv1.DocumentFlag, args []string) error { return change(o, f, args) })
}

func (r ruleVerbs) rollout() verb {
	return r.describing(verb{
		use: "rollout <flag> [<percentage>|<variant>=<percentage>...]", short: "Roll a flag out to a share of everyone, or of some",
		long: rolloutHelp, example: rolloutExample, args: arguments(0, true),
	}, false, func(o *ruleOptions, f *guidonv1.DocumentFlag, args []string) error {
		o.shares = args
		if isBoolean(f) && !o.targeted() {
			return o.rollOutToShare(f)
		}
		return o.rollOutToTarget(f)
	})
}

func (r ruleVerbs) add() verb {
	at := new(int)
	return r.describing(verb{
		use: "add <flag> [<percentage>|<variant>=<percentage>...]", short: "Add a rule to a flag", args: arguments(0, true),
		long: `Add a rule, after all others or at the position --at. A rule of a boolean flag is for
a share of everyone, or for those of --segment and --if or a share of them; one of a variant
flag has shares of its variants for them, or --code-default.

` + targetHelp,
		example: `  guidon flag rule add new-checkout 10%
  guidon flag rule add new-checkout --segment bots --value off --at 1
  guidon flag rule add price-test high=50% low=50% --segment germany --portion 10%
  guidon flag rule add price-test low=100% --everyone`,
		options: func(command *cobra.Command) {
			command.Flags().IntVar(at, "at", 0, "number of the new rule; those from there on come after it (default: the last)")
		},
	}, false, func(o *ruleOptions, f *guidonv1.DocumentFlag, args []string) error {
		o.shares = args
		switch count := countRules(f); {
		case !o.given("at"):
			return o.insertRule(f, count)
		case *at < 1 || *at > count+1:
			return cli.UsageError("invalid --at %d: must be from 1 to %d", *at, count+1)
		}
		return o.insertRule(f, *at-1)
	})
}

func (r ruleVerbs) set() verb {
	return r.describing(verb{
		use: "set <flag> <rule> [<percentage>|<variant>=<percentage>...]", short: "Change a rule of a flag", args: arguments(1, true),
		long: `Change the rule with the number. What is not given stays as it is. An empty text, such as
--if '', removes what the option says; --everyone also removes segments and constraints.

` + targetHelp,
		example: `  guidon flag rule set new-checkout 2 25%
  guidon flag rule set new-checkout 1 --segment staff --segment beta-users
  guidon flag rule set price-test 1 high=20% low=80%
  guidon flag rule set price-test 1 --except '' --portion 50%
  guidon flag rule set christmas-banner 1 --until ''
  guidon flag rule set new-checkout 2 --requires ''
  guidon flag rule set new-checkout 2 --over 0`,
	}, true, func(o *ruleOptions, f *guidonv1.DocumentFlag, args []string) error {
		at, err := ruleIndex(f, args[0])
		if err != nil {
			return err
		}
		if o.shares = args[1:]; len(o.shares) == 0 && !o.anyGiven() {
			return cli.UsageError("nothing to change: give a percentage, shares, or an option such as --segment or --if")
		}
		return o.setRuleAt(f, at)
	})
}

func (r ruleVerbs) move() verb {
	return r.changing(verb{
		use: "move <flag> <rule> <number>", short: "Move a rule of a flag", args: arguments(2, false),
		long:    `Move a rule, so that it has the given number.`,
		example: `  guidon flag rule move new-checkout 3 1`,
	}, func(f *guidonv1.DocumentFlag, args []string) error {
		from, err := ruleIndex(f, args[0])
		if err != nil {
			return err
		}
		to, err := ruleIndex(f, args[1])
		if err != nil {
			return err
		}
		moveRule(f, from, to)
		return nil
	})
}

func (r ruleVerbs) remove() verb {
	return r.changing(verb{
		use: "remove <flag> <rule>", short: "Remove a rule of a flag", args: arguments(1, false),
		long:    `Remove the rule with the number. "guidon undo" brings it back.`,
		example: `  guidon flag rule remove new-checkout 2`,
	}, func(f *guidonv1.DocumentFlag, args []string) error {
		at, err := ruleIndex(f, args[0])
		if err != nil {
			return err
		}
		removeRule(f, at)
		return nil
	})
}

// arguments returns a check for the key of a flag, followed by the given number of arguments;
// by more of them only if there may be more.
func arguments(number int, more bool) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		switch {
		case len(args) <= number || args[0] == "":
			return cli.UsageError("missing argument: %s", command.UseLine())
		case len(args) > number+1 && !more:
			return cli.UsageError("unexpected argument %q: %s", args[number+1], command.UseLine())
		}
		return nil
	}
}
