package object

import (
	"slices"
	"strconv"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// rollOutToShare sets the share of everyone for whom a boolean flag has the result of the
// options.
func (o *ruleOptions) rollOutToShare(f *ruled) error {
	at := beforeEveryone(f)
	switch shares := shareRules(f); {
	case len(o.shares) == 0:
		return cli.UsageError("missing percentage, such as 50%%, --segment, --if or --everyone")
	case len(shares) > 1:
		return cli.UsageError("flag %q has several shares, in rules %s; \"guidon flag rule set %s\" and the number of one changes it",
			f.GetKey(), cli.JoinWords(shares, "and"), f.GetKey())
	case len(shares) == 1:
		at, _ = f.index(shares[0]) // it is one of the flag's
		if err := o.set(f, f.rules[at]); err != nil {
			return err
		}
	default:
		if err := o.insert(f, at); err != nil {
			return err
		}
	}
	r, last := f.rules[at], at == len(f.rules)-1
	if last && (r.GetPortion().GetPercentage() < 100 || r.GetPortion().GetRamp() != nil) && r.value == f.GetEnabled() {
		return cli.UsageError("flag %[1]q is %[2]s for everybody whom no rule matches, so a share for whom it is %[2]s changes nothing; "+
			"give --value %[3]s, or change the default value by \"guidon flag update %[1]s --enabled=%[4]t\" first",
			f.GetKey(), change.OnOff(r.value), change.OnOff(!r.value), !r.value)
	}
	return nil
}

// shareRules returns the numbers of the rules of a boolean flag that are for a share of
// everyone. That by which it is turned off does not count.
func shareRules(f *ruled) []string {
	var numbers []string
	for i, r := range f.rules {
		if !hasTarget(r.DocumentRule) && !(i == 0 && isTurnedOff(f.DocumentFlag)) {
			numbers = append(numbers, strconv.Itoa(i+1))
		}
	}
	return numbers
}

// rollOutToTarget sets what a flag gives to the entities that the options say. The percentage of
// a boolean flag is one of them, and all without it.
func (o *ruleOptions) rollOutToTarget(f *ruled) error {
	boolean := isBoolean(f.DocumentFlag)
	if boolean && len(o.shares) == 0 && o.givesRamp() {
		o.shares = []string{"100%"}
	}
	at, err := o.ruleForTarget(f)
	switch {
	case err != nil:
		return err
	case at < 0 && o.everyone:
		return o.insert(f, len(f.rules))
	case at < 0:
		return o.insert(f, beforeEveryone(f))
	}
	r := f.rules[at]
	r.value = o.on()
	if boolean && len(o.shares) == 0 {
		if err := o.checkNoRamp(r.GetPortion()); err != nil {
			return err
		}
		r.Portion = nil
	}
	o.segments, o.except = r.GetSegmentKeys(), r.GetExceptSegmentKeys() // they stay in their order
	return o.set(f, r)
}

// beforeEveryone returns the index of the first rule for everyone, or for a share of everyone,
// before which others decide. That by which the flag is turned off does not count.
func beforeEveryone(f *ruled) int {
	for at, r := range f.rules {
		if r.GetEveryone() || !hasTarget(r.DocumentRule) && !(at == 0 && isTurnedOff(f.DocumentFlag)) {
			return at
		}
	}
	return len(f.rules)
}

// ruleForTarget returns the index of the rule that is for just those whom the options say, or -1.
func (o *ruleOptions) ruleForTarget(f *ruled) (int, error) {
	want := new(guidonv1.DocumentRule)
	if err := o.setTarget(want); err != nil {
		return 0, err
	}
	return slices.IndexFunc(f.rules, func(r *rule) bool { return sameTarget(r.DocumentRule, want) }), nil
}
