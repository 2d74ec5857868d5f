package service

import (
	"cmp"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
)

// Limits of the conditions of one rule.
const (
	MaxConstraintGroups = 20
	MaxGroupConstraints = 50 // of one group
	MaxExceptions       = 20
)

// checkTarget checks whom a rule is for: its segments, given in one of the two ways, and its
// conditions. It returns the keys without duplicates, and the conditions in their stored form.
func checkTarget(segmentKey string, segmentKeys []string, stated *guidon.Conditions) ([]string, *guidon.Conditions, error) {
	c := *stated.Stated()
	given := segmentKey != "" || len(segmentKeys) > 0
	if c.Everyone && (given || len(c.Groups) > 0) {
		return nil, nil, invalidField("everyone", "cannot be combined with segments or conditions")
	}
	var keys []string
	if given || !c.Everyone && len(c.Groups) == 0 {
		var err error
		if keys, err = checkSegmentChoice(segmentKey, segmentKeys); err != nil {
			return nil, nil, err
		}
	}
	c, err := checkConditions(c)
	return keys, c.OrNil(), err
}

func checkConditions(c guidon.Conditions) (guidon.Conditions, error) {
	switch {
	case len(c.Groups) > MaxConstraintGroups:
		return c, invalidField("if", fmt.Sprintf("must not contain more than %d groups", MaxConstraintGroups))
	case len(c.ExceptSegmentKeys) > MaxExceptions:
		return c, invalidField("except", fmt.Sprintf("must not contain more than %d segments", MaxExceptions))
	}
	groups := c.Groups
	c.Groups = nil
	for i, g := range groups {
		checked, err := checkGroup(g)
		if err != nil {
			return c, guidon.Errorf(guidon.InvalidArgument, "if[%d]: %s", i, guidon.PublicMessage(err))
		}
		c.Groups = append(c.Groups, checked)
	}
	if err := checkTimes(&c); err != nil {
		return c, err
	}
	var err error
	if c.Requires, err = checkRequirements(c.Requires); err != nil {
		return c, err
	}
	if len(c.ExceptSegmentKeys) > 0 {
		var err error
		if c.ExceptSegmentKeys, err = checkSegmentChoice("", c.ExceptSegmentKeys); err != nil {
			return c, err
		}
	}
	if p := c.Portion; p != nil {
		if err := cmp.Or(checkShare("portion", p.Start, p.Percentage), checkSplit("portion", &p.Split)); err != nil {
			return c, err
		}
		ramp, err := checkRamp("portion", p.Start, p.Ramp)
		if err != nil {
			return c, err
		}
		c.Portion = new(*p)
		c.Portion.Ramp = ramp
	}
	return c, nil
}

// The times that a rule can have: RFC 3339 has no later ones.
var (
	firstTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// checkTimes checks when a rule holds, and sets the times to their stored form.
func checkTimes(c *guidon.Conditions) error {
	c.From, c.Until = c.From.UTC(), c.Until.UTC()
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"from", c.From}, {"until", c.Until}} {
		if err := checkInstant(f.name, f.at, time.Second, "second"); err != nil {
			return err
		}
	}
	if !c.Until.IsZero() && !c.Until.After(c.From) {
		return invalidField("until", "must be after from")
	}
	return nil
}

// checkInstant checks an instant, which may be zero, in whole units.
func checkInstant(name string, at time.Time, unit time.Duration, word string) error {
	switch {
	case at.IsZero():
	case at.Before(firstTime) || at.After(lastTime):
		return invalidField(name, "must be between the years 2000 and 9999")
	case !at.Truncate(unit).Equal(at):
		return invalidField(name, "must be a whole "+word)
	}
	return nil
}

func checkGroup(g *guidon.ConstraintGroup) (*guidon.ConstraintGroup, error) {
	if err := checkEnum("match", g.MatchType); err != nil {
		return nil, err
	}
	if n := len(g.Constraints); n == 0 || n > MaxGroupConstraints {
		return nil, invalidField("constraints", fmt.Sprintf("must contain between 1 and %d constraints", MaxGroupConstraints))
	}
	out := &guidon.ConstraintGroup{MatchType: g.MatchType}
	for i, c := range g.Constraints {
		checked, err := NormalConstraint(c)
		if err == nil {
			err = checkTexts(field{"property", c.Property}, field{"value", c.Value}, field{"description", c.Description})
		}
		if err != nil {
			return nil, guidon.Errorf(guidon.InvalidArgument, "constraints[%d]: %s", i, guidon.PublicMessage(err))
		}
		out.Constraints = append(out.Constraints, &checked)
	}
	return out, nil
}

// checkShare checks a share of the buckets, in percent.
func checkShare(name string, start, percentage float32) error {
	if start >= 0 && percentage >= 0 && start+percentage <= 100 { // not if one is NaN
		return nil
	}
	return invalidField(name, "start and percentage must be within [0, 100] together")
}

// checkSplit checks a way to divide, or nil.
func checkSplit(name string, s *guidon.Split) error {
	if s == nil {
		return nil
	}
	for _, f := range []field{{name + ".by", s.By}, {name + ".seed", s.Seed}} {
		if err := cmp.Or(checkLength(f.name, f.value), checkTexts(f)); err != nil {
			return err
		}
	}
	return checkEnum(name+".hash", s.Hash)
}

// checkThreshold checks the share of a threshold, whose rule has no conditions but times.
func checkThreshold(t *guidon.RolloutThreshold, c *guidon.Conditions) error {
	for _, f := range []struct {
		name  string
		given bool
	}{
		{"requires", len(c.Requires) > 0}, {"if", len(c.Groups) > 0}, {"except", len(c.ExceptSegmentKeys) > 0}, {"everyone", c.Everyone}, {"portion", c.Portion != nil},
	} {
		if f.given {
			return invalidField(f.name, "a threshold is for everyone; use a segment rollout with a portion")
		}
	}
	if !(t.Percentage >= 0 && t.Percentage <= 100) { // NaN fails too
		return invalidField("threshold.percentage", "must be within range [0, 100]")
	}
	return cmp.Or(checkShare("threshold", t.Start, t.Percentage), checkSplit("threshold", t.Split))
}
