package object

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// ruleOptions are what a command says of a rule.
type ruleOptions struct {
	command     *cobra.Command
	flags       *pflag.FlagSet // those of the command that describe the rule
	program     *cli.Program
	shares      []string // "50%" of a boolean flag, or "blue=50%" for each variant
	segments    []string
	all         bool // in all of the segments, not in any
	groups      []*flipt.ConstraintGroup
	clears      bool // the groups
	except      []string
	requires    []string // flags with their answers
	required    []*flipt.Requirement
	everyone    bool
	value       string
	description string
	codeDefault bool
	portion     []string // one percentage
	from, until *timestamppb.Timestamp
	ramp        rampOptions
}

// Options for rules of flags of one type only.
var (
	booleanOptions = []string{"value", "description", "start"}
	variantOptions = []string{"code-default", "portion", "portion-start", "portion-by", "portion-seed", "portion-hash"}
)

// add adds the options to a command.
func (o *ruleOptions) add(command *cobra.Command, p *cli.Program) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.command, o.flags, o.program = command, flags, p
	flags.StringArrayVar(&o.segments, "segment", nil, "`key` of a segment whose entities the rule is for; may be repeated")
	flags.BoolVar(&o.all, "all", false, "the rule is for entities in all of the segments, not in any of them")
	flags.Func("if", "a `constraint`, such as 'country eq SE', that must hold too; may be repeated", o.addGroup)
	flags.Func("or", "a `constraint` that may hold instead of that of the --if before it; may be repeated", o.addAlternative)
	flags.StringArrayVar(&o.except, "except", nil, "`key` of a segment whose entities the rule is not for; may be repeated")
	flags.StringArrayVar(&o.requires, "requires", nil,
		"a `flag` that must be on, or flag=variant,variant, one of which it must answer; may be repeated")
	flags.BoolVar(&o.everyone, "everyone", false, "the rule is for everyone, instead of for segments and by constraints")
	flags.String("from", "", "`time` from which the rule holds, such as 2026-12-01T09:00:00Z, or in how long, such as 3d")
	flags.String("until", "", "`time` from which it no longer holds")
	flags.StringVar(&o.value, "value", "on", "result of a rule of a boolean flag: on or off")
	flags.StringVar(&o.description, "description", "", "what a rule of a boolean flag is for")
	flags.BoolVar(&o.codeDefault, "code-default", false, "a rule of a variant flag answers with the default in the code, without shares")
	flags.String("start", "", "`percentage` at which the share of a boolean flag begins")
	addSplit(flags, "", "the shares")
	flags.StringArrayVar(&o.portion, "portion", nil, "a rule of a variant flag is only for this `percentage`; others go on to the next")
	flags.String("portion-start", "", "`percentage` at which the portion begins")
	addSplit(flags, "portion-", "the portion")
	o.ramp.add(command, flags)
	command.Flags().AddFlagSet(flags)
	properties := p.CompleteProperties("")
	for option, complete := range map[string]cobra.CompletionFunc{
		"segment": p.CompleteSegments, "except": p.CompleteSegments, "requires": p.CompleteFlags, "value": cli.CompleteWords("on", "off"),
		"if": completeConstraint(properties), "or": completeConstraint(properties),
		"by": properties, "seed": p.CompleteFlags, "hash": cli.CompleteWords(hashNames()...),
		"portion-by": properties, "portion-seed": p.CompleteFlags, "portion-hash": cli.CompleteWords(hashNames()...),
	} {
		_ = command.RegisterFlagCompletionFunc(option, complete) // the flags exist
	}
}

// addSplit adds the options for how shares divide the entities.
func addSplit(flags *pflag.FlagSet, prefix, shares string) {
	flags.String(prefix+"by", "", "`property` whose value is hashed for "+shares+" (default: the entity id)")
	flags.String(prefix+"seed", "", "`text` hashed with it for "+shares+", the same for the same entities (default: the key of the flag)")
	flags.String(prefix+"hash", "", "`hash` for "+shares+": "+cli.JoinWords(hashNames(), "or"))
}

// check checks what can be wrong whatever the flag is. Lists may be empty if they can be cleared.
func (o *ruleOptions) check(clearable bool) error {
	switch {
	case o.value != "on" && o.value != "off":
		return cli.UsageError("invalid --value %q: must be on or off", o.value)
	case o.all && len(o.segments) < 2:
		return cli.UsageError("--all is for two or more segments: give --segment for each")
	case o.everyone && (o.given("segment") || o.given("if")):
		return cli.UsageError("--everyone cannot be combined with --segment and --if")
	case clearable:
		for _, texts := range []*[]string{&o.segments, &o.except, &o.requires, &o.portion} {
			*texts = slices.DeleteFunc(*texts, func(text string) bool { return text == "" })
		}
	case o.clears || slices.Contains(slices.Concat(o.segments, o.except), ""):
		return cli.UsageError("--segment, --if and --except must not be empty")
	}
	var err error
	if o.required, err = parseRequirements(o.requires); err != nil {
		return err
	}
	if o.from, err = o.program.TimeAhead("--from", o.text("from")); err != nil {
		return err
	}
	if o.until, err = o.program.TimeAhead("--until", o.text("until")); err != nil {
		return err
	}
	o.ramp.start, err = o.program.TimeAhead("--ramp-start", o.text("ramp-start"))
	o.ramp.start = nextMinute(o.ramp.start)
	return err
}

// given reports whether the option is set on the command line.
func (o *ruleOptions) given(option string) bool { return o.command.Flags().Changed(option) }

func (o *ruleOptions) anyGiven() (given bool) {
	o.flags.VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
	return given
}

// firstGiven returns the first of the options that is set on the command line, or "".
func (o *ruleOptions) firstGiven(options ...string) string {
	if i := slices.IndexFunc(options, o.given); i >= 0 {
		return options[i]
	}
	return ""
}

func (o *ruleOptions) text(option string) string { return o.flags.Lookup(option).Value.String() }

func (o *ruleOptions) on() bool { return o.value == "on" }

func (o *ruleOptions) operator() flipt.SegmentOperator {
	if o.all {
		return flipt.SegmentOperator_AND_SEGMENT_OPERATOR
	}
	return flipt.SegmentOperator_OR_SEGMENT_OPERATOR
}

// parsePercentage returns the percentage of a text such as "12.5%" or "12.5". what is its name.
func parsePercentage(what, text string) (float32, error) {
	p, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 32)
	if err != nil || !(p >= 0 && p <= 100) {
		return 0, cli.UsageError("invalid %s %q: must be from 0%% to 100%%", what, text)
	}
	return float32(p), nil
}

// distributions returns the shares of variants.
func (o *ruleOptions) distributions() ([]*guidonv1.DocumentDistribution, error) {
	var all []*guidonv1.DocumentDistribution
	for _, text := range o.shares {
		variant, share, ok := strings.Cut(text, "=")
		if !ok || variant == "" {
			return nil, cli.UsageError("invalid share %q: rules of a variant flag have one for each variant, such as blue=50%%", text)
		}
		p, err := parsePercentage("percentage", share)
		if err != nil {
			return nil, err
		}
		all = append(all, &guidonv1.DocumentDistribution{Variant: variant, Rollout: p})
	}
	return all, nil
}

// insert adds a rule that the options describe at the index.
func (o *ruleOptions) insert(f *ruled, at int) error {
	if err := cli.NotEmpty(o.command, "from", "until", "ramp-start"); err != nil { // there is none to remove
		return err
	}
	r := &rule{DocumentRule: new(guidonv1.DocumentRule), value: true}
	f.rules = slices.Insert(f.rules, at, r)
	return o.set(f, r)
}

// set sets what the options say in a rule of the flag, new or not.
func (o *ruleOptions) set(f *ruled, r *rule) error {
	if isBoolean(f.DocumentFlag) {
		return o.setBoolean(r)
	}
	return o.setVariant(r.DocumentRule)
}

// setBoolean sets what the options say in a rule of a boolean flag.
func (o *ruleOptions) setBoolean(r *rule) (err error) {
	if option := o.firstGiven(variantOptions...); option != "" {
		return cli.UsageError("rules of boolean flags have no --%s: give a percentage, such as 50%%", option)
	}
	now := o.percentageNow(r.DocumentRule)
	if err = o.setTarget(r.DocumentRule); err != nil {
		return err
	}
	if r.Portion, err = o.setPortion(r.GetPortion(), now, "percentage", o.shares, ""); err != nil {
		return err
	}
	if o.given("value") {
		r.value = o.on()
	}
	if o.given("description") {
		r.description = o.description
	}
	switch {
	case hasTarget(r.DocumentRule):
		r.Portion = unlessWhole(r.GetPortion())
	case r.GetPortion() == nil:
		return cli.UsageError("missing percentage, --segment, --if or --everyone: whom the rule is for")
	}
	return nil
}

// setVariant sets what the options say in a rule of a variant flag.
func (o *ruleOptions) setVariant(r *guidonv1.DocumentRule) (err error) {
	switch option := o.firstGiven(booleanOptions...); {
	case option != "":
		return cli.UsageError("rules of variant flags have no --%s: give shares, such as blue=50%%", option)
	case o.codeDefault && len(o.shares) > 0:
		return cli.UsageError("--code-default cannot be combined with shares")
	}
	now := o.percentageNow(r)
	if err := o.setTarget(r); err != nil {
		return err
	}
	if o.given("code-default") || len(o.shares) > 0 {
		r.CodeDefault = o.codeDefault
	}
	if o.codeDefault || len(o.shares) > 0 {
		if r.Distributions, err = o.distributions(); err != nil {
			return err
		}
	}
	if r.Split, err = o.setSplit(r.GetSplit(), ""); err != nil {
		return err
	}
	if o.given("portion") && len(o.portion) == 0 {
		r.Portion = nil
	}
	if r.Portion, err = o.setPortion(r.GetPortion(), now, "--portion", o.portion, "portion-"); err != nil {
		return err
	}
	r.Portion = unlessWhole(r.GetPortion())
	switch {
	case !hasTarget(r):
		return cli.UsageError("missing --segment, --if or --everyone: whom the rule is for")
	case len(r.GetDistributions()) == 0 && !r.GetCodeDefault():
		return cli.UsageError("missing shares: give one for each variant, such as blue=50%% green=50%%, or --code-default")
	}
	return nil
}
