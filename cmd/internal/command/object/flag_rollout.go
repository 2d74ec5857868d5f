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
func (o *ruleOptions) rollOutToShare(f *guidonv1.DocumentFlag) error {
	at := countRules(f)
	switch shares := shareRules(f); {
	case len(o.shares) == 0:
		return cli.UsageError("missing percentage, such as 50%%, or --segment")
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
	if t := f.GetRollouts()[at].GetThreshold(); t.GetPercentage() < 100 && t.GetValue() == f.GetEnabled() {
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

// rollOutToSegments sets what a flag gives to entities in the segments of the options. A new
// rule of a boolean flag comes before its shares, which would otherwise decide first.
func (o *ruleOptions) rollOutToSegments(f *guidonv1.DocumentFlag) error {
	boolean := isBoolean(f)
	at := o.ruleForSegments(f)
	switch {
	case boolean && len(o.shares) > 0:
		return errShareOfSegment()
	case boolean && at >= 0:
		setRolloutValue(f.GetRollouts()[at], o.on())
	}
	if at >= 0 {
		o.segments = nil // they stay in their order
		return o.setRuleAt(f, at)
	}
	at = countRules(f)
	if shares := shareRules(f); len(shares) > 0 {
		at, _ = ruleIndex(f, shares[0]) // it is one of the flag's
	}
	return o.insertRule(f, at)
}

// ruleForSegments returns the index of the rule that is for just the segments of the
// options, or -1.
func (o *ruleOptions) ruleForSegments(f *guidonv1.DocumentFlag) int {
	if isBoolean(f) {
		return slices.IndexFunc(f.GetRollouts(), func(r *guidonv1.DocumentRollout) bool {
			return r.GetSegment() != nil && o.isFor(r.GetSegment().GetSegmentKeys(), r.GetSegment().GetSegmentOperator())
		})
	}
	return slices.IndexFunc(f.GetRules(), func(r *guidonv1.DocumentRule) bool {
		return o.isFor(r.GetSegmentKeys(), r.GetSegmentOperator())
	})
}
