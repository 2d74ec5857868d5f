package object

import (
	"strconv"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// rollOutToShare sets the share of everyone for whom a boolean flag has the result of the
// options.
func (o *ruleOptions) rollOutToShare(f *guidonv1.DocumentFlag) error {
	at := beforeEveryone(f)
	switch shares := shareRules(f); {
	case len(o.shares) == 0:
		return cli.UsageError("missing percentage, such as 50%%, --segment, --if or --everyone")
	case len(shares) > 1:
		return cli.UsageError("flag %q has several shares, in rules %s; \"guidon flag rule set %s\" and the number of one changes it",
			f.GetKey(), cli.JoinWords(shares, "and"), f.GetKey())
	case len(shares) == 1:
		at, _ = ruleIndex(f, shares[0]) // it is one of the flag's
		if err := o.setRuleAt(f, at); err != nil {
			return err
		}
	default:
		if err := o.insertRule(f, at); err != nil {
			return err
		}
	}
	t := f.GetRollouts()[at].GetThreshold()
	if last := at == countRules(f)-1; last && (t.GetPercentage() < 100 || t.GetRamp() != nil) && t.GetValue() == f.GetEnabled() {
		return cli.UsageError("flag %[1]q is %[2]s for everybody whom no rule matches, so a share for whom it is %[2]s changes nothing; "+
			"give --value %[3]s, or change the default value by \"guidon flag update %[1]s --enabled=%[4]t\" first",
			f.GetKey(), change.OnOff(t.GetValue()), change.OnOff(!t.GetValue()), !t.GetValue())
	}
	return nil
}

// shareRules returns the numbers of the rules of a boolean flag that are for a share of
// everyone. That by which it is turned off does not count.
func shareRules(f *guidonv1.DocumentFlag) []string {
	var numbers []string
	for i, r := range f.GetRollouts() {
		if r.GetThreshold() != nil && !(i == 0 && isOffRule(r)) {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
	}
	return numbers
}

// rollOutToTarget sets what a flag gives to the entities that the options say. The percentage of
// a boolean flag is one of them, and all without it.
func (o *ruleOptions) rollOutToTarget(f *guidonv1.DocumentFlag) error {
	if isBoolean(f) && len(o.shares) == 0 && o.givesRamp() {
		o.shares = []string{"100%"}
	}
	at, err := o.ruleForTarget(f)
	switch {
	case err != nil:
		return err
	case at < 0 && o.everyone:
		return o.insertRule(f, countRules(f))
	case at < 0:
		return o.insertRule(f, beforeEveryone(f))
	case isBoolean(f):
		r := f.GetRollouts()[at]
		if r.GetSegment().Value = o.on(); len(o.shares) == 0 {
			if err := o.checkNoRamp(r.GetPortion()); err != nil {
				return err
			}
			r.Portion = nil
		}
	}
	target := targetOfRule(f, at)
	o.segments, o.except = target.GetSegmentKeys(), target.GetExceptSegmentKeys() // they stay in their order
	return o.setRuleAt(f, at)
}

// beforeEveryone returns the index of the first rule for everyone, or for a share of everyone,
// before which others decide. That by which the flag is turned off does not count.
func beforeEveryone(f *guidonv1.DocumentFlag) int {
	for at := range countRules(f) {
		if r := targetOfRule(f, at); r.GetEveryone() || !hasTarget(r) && !(at == 0 && isTurnedOff(f)) {
			return at
		}
	}
	return countRules(f)
}

// ruleForTarget returns the index of the rule that is for just those whom the options say, or -1.
func (o *ruleOptions) ruleForTarget(f *guidonv1.DocumentFlag) (int, error) {
	want := new(guidonv1.DocumentRule)
	if err := o.setTarget(want); err != nil {
		return 0, err
	}
	for at := range countRules(f) {
		if sameTarget(targetOfRule(f, at), want) {
			return at, nil
		}
	}
	return -1, nil
}

// targetOfRule returns whom the rule at the index is for.
func targetOfRule(f *guidonv1.DocumentFlag, at int) *guidonv1.DocumentRule {
	if isBoolean(f) {
		return targetOf(f.GetRollouts()[at])
	}
	return f.GetRules()[at]
}
