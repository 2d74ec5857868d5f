package object

import (
	"cmp"
	"encoding/csv"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// addGroup adds a group with the constraint of the text. An empty text clears the groups.
func (o *ruleOptions) addGroup(text string) error {
	o.clears = o.clears || text == ""
	if text == "" {
		return nil
	}
	o.groups = append(o.groups, &flipt.ConstraintGroup{})
	return o.addConstraint(text)
}

// addAlternative adds the constraint of the text to the last group, one of which must hold.
func (o *ruleOptions) addAlternative(text string) error {
	if len(o.groups) == 0 {
		return errors.New("must follow --if")
	}
	o.groups[len(o.groups)-1].Match = flipt.MatchType_ANY_MATCH_TYPE
	return o.addConstraint(text)
}

func (o *ruleOptions) addConstraint(text string) error {
	c, err := parseConstraint(text)
	last := o.groups[len(o.groups)-1]
	last.Constraints = append(last.GetConstraints(), &flipt.GroupConstraint{
		Type: c.GetType(), Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(), Negate: c.GetNegate(),
	})
	return err
}

// targeted reports whether the options say whom the rule is for, other than a share of everyone.
func (o *ruleOptions) targeted() bool {
	return len(o.segments)+len(o.groups)+len(o.except) > 0 || o.everyone
}

// setTarget sets whom the rule is for, and when. A rule of a boolean flag has it in a rule of a variant
// flag while it is edited.
func (o *ruleOptions) setTarget(r *guidonv1.DocumentRule) error {
	if o.given("segment") {
		r.SegmentKeys, r.SegmentOperator = o.segments, o.operator()
	}
	if o.given("if") {
		r.Groups = o.groups
	}
	if o.given("except") {
		r.ExceptSegmentKeys = o.except
	}
	if o.given("requires") {
		r.Requires = o.required
	}
	if o.given("from") {
		r.HoldsFrom = o.from
	}
	if o.given("until") {
		r.HoldsUntil = o.until
	}
	switch {
	case o.everyone:
		r.SegmentKeys, r.Groups, r.Everyone = nil, nil, true
	case o.given("everyone"), len(r.GetSegmentKeys())+len(r.GetGroups()) > 0:
		r.Everyone = false
	}
	switch {
	case hasTarget(r):
	case len(r.GetExceptSegmentKeys()) > 0:
		return cli.UsageError("--except needs --segment, --if or --everyone: whom the rule is for otherwise")
	case len(r.GetRequires()) > 0:
		return cli.UsageError("--requires needs --segment, --if or --everyone: whom the rule is for")
	}
	return nil
}

// parseRequirements returns what the texts, such as new-api or price-test=b,c, require. An answer with a
// comma is in double quotes.
func parseRequirements(texts []string) (all []*flipt.Requirement, err error) {
	for _, text := range texts {
		key, answers, stated := strings.Cut(text, "=")
		r := &flipt.Requirement{FlagKey: key}
		if stated {
			r.Answers, err = csv.NewReader(strings.NewReader(answers)).Read()
		}
		if key == "" || err != nil || slices.Contains(r.GetAnswers(), "") {
			return nil, cli.UsageError("invalid --requires %q: must be a flag, such as new-api, or one with answers, such as price-test=b,c", text)
		}
		all = append(all, r)
	}
	return all, nil
}

// hasTarget reports whether the rule is for segments, by constraints, or for everyone.
func hasTarget(r *guidonv1.DocumentRule) bool {
	return len(r.GetSegmentKeys())+len(r.GetGroups()) > 0 || r.GetEveryone()
}

// sameTarget reports whether two rules are for the same entities, whatever they require, and whatever
// their portions and times are.
func sameTarget(a, b *guidonv1.DocumentRule) bool {
	return sameKeys(a.GetSegmentKeys(), b.GetSegmentKeys()) && sameKeys(a.GetExceptSegmentKeys(), b.GetExceptSegmentKeys()) &&
		(len(a.GetSegmentKeys()) < 2 || a.GetSegmentOperator() == b.GetSegmentOperator()) && a.GetEveryone() == b.GetEveryone() &&
		slices.EqualFunc(a.GetGroups(), b.GetGroups(), func(a, b *flipt.ConstraintGroup) bool { return proto.Equal(a, b) })
}

func sameKeys(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// setPortion returns the portion, which was for the percentage now, with another one if that is
// given, and what the options whose names begin with the prefix say of it. what is the name of the
// percentage.
func (o *ruleOptions) setPortion(
	p *flipt.Portion, now float32, what string, percentage []string, prefix string,
) (_ *flipt.Portion, err error) {
	switch option := o.firstGiven(slices.Concat(rampNames, []string{prefix + "start", prefix + "by", prefix + "seed", prefix + "hash"})...); {
	case len(percentage) > 1:
		return nil, cli.UsageError("a rule has one %s, such as 50%%; not %q", what, strings.Join(percentage, " "))
	case len(percentage) == 1:
		if err := o.checkNoRamp(p); err != nil {
			return nil, err
		}
		p = cmp.Or(p, new(flipt.Portion))
		if p.Percentage, err = parsePercentage(what, percentage[0]); err != nil {
			return nil, err
		}
	case p == nil && option != "":
		return nil, cli.UsageError("missing %s, of which --%s says how it is taken", what, option)
	case p == nil:
		return nil, nil
	}
	if start := prefix + "start"; o.given(start) {
		if p.Start, err = parsePercentage("--"+start, cmp.Or(o.text(start), "0")); err != nil {
			return nil, err
		}
	}
	if p.Split, err = o.setSplit(p.GetSplit(), prefix); err != nil {
		return nil, err
	}
	return p, o.setRamp(p, now)
}

// setSplit returns the way to divide with what the options whose names begin with the prefix say
// of it, or nil if it is the flag's own.
func (o *ruleOptions) setSplit(s *flipt.Split, prefix string) (*flipt.Split, error) {
	s = cmp.Or(s, new(flipt.Split))
	if o.given(prefix + "by") {
		s.By = o.text(prefix + "by")
	}
	if o.given(prefix + "seed") {
		s.Seed = o.text(prefix + "seed")
	}
	if option := prefix + "hash"; o.given(option) {
		var hash guidon.BucketHash
		if err := hash.UnmarshalText([]byte(o.text(option))); err != nil {
			return nil, cli.UsageError("invalid --%s %q: must be %s", option, o.text(option), cli.JoinWords(hashNames(), "or"))
		}
		s.Hash = flipt.BucketHash(hash)
	}
	if proto.Equal(s, new(flipt.Split)) {
		return nil, nil
	}
	return s, nil
}

func hashNames() (names []string) {
	for h := guidon.FliptHash; h.Known(); h++ {
		names = append(names, h.String())
	}
	return names
}

// unlessWhole returns the portion, or nil if all entities are in it.
func unlessWhole(p *flipt.Portion) *flipt.Portion {
	if p.GetPercentage() >= 100 && p.GetStart() == 0 && p.GetSplit() == nil && p.GetRamp() == nil {
		return nil
	}
	return p
}
