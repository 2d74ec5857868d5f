package object

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// ruleOptions are what a command says of a rule.
type ruleOptions struct {
	command     *cobra.Command
	shares      []string // "50%" of a boolean flag, or "blue=50%" for each variant
	segments    []string
	all         bool // in all of the segments, not in any
	value       string
	description string
}

// add adds the options to a command.
func (o *ruleOptions) add(command *cobra.Command, complete cobra.CompletionFunc) {
	o.command = command
	flags := command.Flags()
	flags.StringArrayVar(&o.segments, "segment", nil, "`key` of a segment whose entities the rule is for; may be repeated")
	flags.BoolVar(&o.all, "all", false, "the rule is for entities in all of the segments, not in any of them")
	flags.StringVar(&o.value, "value", "on", "result of a rule of a boolean flag: on or off")
	flags.StringVar(&o.description, "description", "", "what a rule of a boolean flag is for")
	_ = command.RegisterFlagCompletionFunc("segment", complete) // the flags exist
	_ = command.RegisterFlagCompletionFunc("value", cli.CompleteWords("on", "off"))
}

// check checks what can be wrong whatever the flag is.
func (o *ruleOptions) check() error {
	if o.value != "on" && o.value != "off" {
		return cli.UsageError("invalid --value %q: must be on or off", o.value)
	}
	if o.all && len(o.segments) < 2 {
		return cli.UsageError("--all is for two or more segments: give --segment for each")
	}
	return nil
}

// given reports whether the option is set on the command line.
func (o *ruleOptions) given(option string) bool { return o.command.Flags().Changed(option) }

func (o *ruleOptions) on() bool { return o.value == "on" }

func (o *ruleOptions) operator() flipt.SegmentOperator {
	if o.all {
		return flipt.SegmentOperator_AND_SEGMENT_OPERATOR
	}
	return flipt.SegmentOperator_OR_SEGMENT_OPERATOR
}

// isFor reports whether a rule is for just the segments of the options.
func (o *ruleOptions) isFor(keys []string, operator flipt.SegmentOperator) bool {
	return slices.Equal(slices.Sorted(slices.Values(keys)), slices.Sorted(slices.Values(o.segments))) &&
		(len(keys) < 2 || operator == o.operator())
}

// share returns the percentage of a rule of a boolean flag, which must be given.
func (o *ruleOptions) share() (float32, error) {
	if len(o.shares) != 1 {
		return 0, cli.UsageError("a boolean flag has one percentage for each rule, such as 50%%; not %q", strings.Join(o.shares, " "))
	}
	return parsePercentage(o.shares[0])
}

// parsePercentage returns the percentage of a text such as "12.5%" or "12.5".
func parsePercentage(text string) (float32, error) {
	p, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 32)
	if err != nil || !(p >= 0 && p <= 100) {
		return 0, cli.UsageError("invalid percentage %q: must be from 0%% to 100%%", text)
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
		p, err := parsePercentage(share)
		if err != nil {
			return nil, err
		}
		all = append(all, &guidonv1.DocumentDistribution{Variant: variant, Rollout: p})
	}
	return all, nil
}

// setRollout sets what the options say in a rule of a boolean flag, new or not.
func (o *ruleOptions) setRollout(r *guidonv1.DocumentRollout) error {
	if o.given("description") {
		r.Description = o.description
	}
	switch {
	case len(o.segments) > 0 && len(o.shares) > 0:
		return errShareOfSegment()
	case len(o.segments) > 0:
		r.Rule = &guidonv1.DocumentRollout_Segment{Segment: &guidonv1.DocumentRolloutSegment{
			SegmentKeys: o.segments, SegmentOperator: o.operator(), Value: rolloutValue(r),
		}}
	case len(o.shares) > 0:
		share, err := o.share()
		if err != nil {
			return err
		}
		r.Rule = &guidonv1.DocumentRollout_Threshold{Threshold: &guidonv1.DocumentRolloutThreshold{
			Percentage: share, Value: rolloutValue(r),
		}}
	case r.GetRule() == nil:
		return cli.UsageError("missing percentage or --segment: whom the rule is for")
	}
	if o.given("value") {
		setRolloutValue(r, o.on())
	}
	return nil
}

func errShareOfSegment() error {
	return cli.UsageError("a rule of a boolean flag is for segments or for a share of everyone, not for a share of a segment; " +
		"docs/targeting.md says how two rules do that")
}

// rolloutValue returns the result of a rule of a boolean flag: on, if the rule is new.
func rolloutValue(r *guidonv1.DocumentRollout) bool {
	switch {
	case r.GetSegment() != nil:
		return r.GetSegment().GetValue()
	case r.GetThreshold() != nil:
		return r.GetThreshold().GetValue()
	}
	return true
}

func setRolloutValue(r *guidonv1.DocumentRollout, on bool) {
	if s := r.GetSegment(); s != nil {
		s.Value = on
		return
	}
	r.GetThreshold().Value = on
}

// setRule sets what the options say in a rule of a variant flag, new or not.
func (o *ruleOptions) setRule(r *guidonv1.DocumentRule) error {
	if o.given("value") || o.given("description") {
		return cli.UsageError("rules of variant flags have no --value and no --description: give shares, such as blue=50%%")
	}
	if len(o.segments) > 0 {
		r.SegmentKeys, r.SegmentOperator = o.segments, o.operator()
	}
	if len(o.shares) > 0 {
		shares, err := o.distributions()
		if err != nil {
			return err
		}
		r.Distributions = shares
	}
	switch {
	case len(r.GetSegmentKeys()) == 0:
		return cli.UsageError("missing --segment: rules of a variant flag are for the entities in segments")
	case len(r.GetDistributions()) == 0:
		return cli.UsageError("missing shares: give one for each variant, such as blue=50%% green=50%%")
	}
	return nil
}

func isBoolean(f *guidonv1.DocumentFlag) bool { return f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE }

// countRules returns how many rules a flag of either type has.
func countRules(f *guidonv1.DocumentFlag) int { return len(f.GetRules()) + len(f.GetRollouts()) }

// ruleIndex returns the index of the rule whose number the text is.
func ruleIndex(f *guidonv1.DocumentFlag, text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch count := countRules(f); {
	case count == 0:
		return 0, cli.UsageError("flag %q has no rules", f.GetKey())
	case err != nil || n < 1 || n > count:
		return 0, cli.UsageError("invalid rule %q: must be a number from 1 to %d; \"guidon flag get %s\" shows the rules", text, count, f.GetKey())
	}
	return n - 1, nil
}

// insertRule adds a rule that the options describe at the index.
func (o *ruleOptions) insertRule(f *guidonv1.DocumentFlag, at int) (err error) {
	if isBoolean(f) {
		r := new(guidonv1.DocumentRollout)
		err = o.setRollout(r)
		f.Rollouts = slices.Insert(f.GetRollouts(), at, r)
		return err
	}
	r := new(guidonv1.DocumentRule)
	err = o.setRule(r)
	f.Rules = slices.Insert(f.GetRules(), at, r)
	return err
}

// setRuleAt sets what the options say in the rule at the index.
func (o *ruleOptions) setRuleAt(f *guidonv1.DocumentFlag, at int) error {
	if isBoolean(f) {
		return o.setRollout(f.GetRollouts()[at])
	}
	return o.setRule(f.GetRules()[at])
}

// moveRule moves the rule at one index to another.
func moveRule(f *guidonv1.DocumentFlag, from, to int) {
	f.Rules, f.Rollouts = moved(f.GetRules(), from, to), moved(f.GetRollouts(), from, to)
}

// moved returns the list with the item at one index moved to another. A list of fewer items
// stays as it is.
func moved[R any](list []R, from, to int) []R {
	if max(from, to) >= len(list) {
		return list
	}
	item := list[from]
	return slices.Insert(slices.Delete(list, from, from+1), to, item)
}

// removeRule removes the rule at the index.
func removeRule(f *guidonv1.DocumentFlag, at int) {
	if isBoolean(f) {
		f.Rollouts = slices.Delete(f.GetRollouts(), at, at+1)
		return
	}
	f.Rules = slices.Delete(f.GetRules(), at, at+1)
}

// isTurnedOff reports whether the first rule of a boolean flag, or the state of a variant
// flag, turns it off for everybody.
func isTurnedOff(f *guidonv1.DocumentFlag) bool {
	if !isBoolean(f) {
		return !f.GetEnabled()
	}
	return len(f.GetRollouts()) > 0 && isOffRule(f.GetRollouts()[0])
}

// isOffRule reports whether the rule is the one by which a boolean flag is turned off.
func isOffRule(r *guidonv1.DocumentRollout) bool {
	t := r.GetThreshold()
	return t.GetPercentage() >= 100 && !t.GetValue() && r.GetDescription() == service.OffDescription
}
