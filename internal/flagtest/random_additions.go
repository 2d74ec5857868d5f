package flagtest

import (
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// AdditionsStart is in the middle of the times of random rules and ramps.
var AdditionsStart = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

// instant returns one of few times within a day around AdditionsStart, in whole minutes.
func (s *Source) instant() time.Time {
	return AdditionsStart.Add(time.Duration(s.random.IntN(9)-4) * 3 * time.Hour)
}

// editRuleAdditions changes what the rule has besides its segments and distributions.
func (s *Source) editRuleAdditions(r *guidon.Rule) {
	if s.plain {
		return
	}
	switch s.random.IntN(6) {
	case 0:
		r.Split = s.splitOrNil()
	case 1:
		r.CodeDefault = !r.CodeDefault && len(r.Distributions) == 0
	default:
		s.editConditions(&r.Conditions, &r.SegmentKeys, &r.SegmentOperator)
	}
}

// editRolloutAdditions is editRuleAdditions for a rollout.
func (s *Source) editRolloutAdditions(r *guidon.Rollout) {
	if s.plain {
		return
	}
	if r.Segment != nil {
		s.editConditions(&r.Conditions, &r.Segment.SegmentKeys, &r.Segment.SegmentOperator)
		return
	}
	t := r.Threshold
	switch s.random.IntN(5) {
	case 0:
		t.Split = s.splitOrNil()
	case 1:
		if t.Start = pick[float32](s, 0, 12.5); t.Percentage+t.Start > 100 {
			t.Percentage = 50
		}
		s.fitRamp(t.Ramp, t.Start)
	case 2, 3:
		t.Ramp = s.editedRamp(t.Ramp, t.Start)
	default:
		c := *r.Stated()
		s.editTimes(&c)
		r.Conditions = c.OrNil()
	}
}

// editConditions changes one of the conditions of a rule with the segments.
func (s *Source) editConditions(at **guidon.Conditions, segments *[]string, operator *guidon.SegmentOperator) {
	c := (*at).Stated().Clone()
	switch s.random.IntN(9) {
	case 0, 1:
		if c.Groups = append(c.Groups, s.group()); s.one(2) {
			c.Groups = c.Groups[len(c.Groups)-1:]
		}
		if c.Everyone = false; s.one(3) {
			*segments, *operator = nil, guidon.OrSegments
		}
	case 2:
		c.ExceptSegmentKeys, _ = s.segmentKeys()
	case 3:
		c.Everyone, c.Groups = true, nil
		*segments, *operator = nil, guidon.OrSegments
	case 4, 5:
		s.editPortion(c)
	case 6:
		c.Requires = s.requirements()
	case 7:
		s.editTimes(c)
	default: // only segments
		c = new(guidon.Conditions)
	}
	if len(*segments)+len(c.Groups) == 0 && !c.Everyone {
		*segments, *operator = s.segmentKeys()
	}
	*at = c.OrNil()
}

// setSegments gives a rule other segments.
func (s *Source) setSegments(at **guidon.Conditions, segments *[]string, operator *guidon.SegmentOperator) {
	*segments, *operator = s.segmentKeys()
	if c := (*at).Stated().Clone(); c.Everyone {
		c.Everyone = false
		*at = c.OrNil()
	}
}

func (s *Source) group() *guidon.ConstraintGroup {
	g := &guidon.ConstraintGroup{MatchType: guidon.MatchType(s.random.IntN(2))} // #nosec G115 -- 0 or 1
	for range 1 + s.random.IntN(2) {
		c := &guidon.Constraint{Description: pick(s, "", "short")}
		s.setCondition(c)
		g.Constraints = append(g.Constraints, c)
	}
	return g
}

func (s *Source) editPortion(c *guidon.Conditions) {
	if c.Portion == nil || s.one(4) {
		c.Portion = &guidon.Portion{Percentage: s.percentage()}
		if s.one(3) {
			c.Portion.Split = s.split()
		}
		return
	}
	p := c.Portion
	switch s.random.IntN(4) {
	case 0:
		c.Portion = nil
		return
	case 1:
		if p.Start = pick[float32](s, 0, 12.5); p.Percentage+p.Start > 100 {
			p.Percentage = 50
		}
		s.fitRamp(p.Ramp, p.Start)
	default:
		p.Ramp = s.editedRamp(p.Ramp, p.Start)
	}
}

func (s *Source) split() guidon.Split {
	return guidon.Split{By: pick(s, "", "account"), Seed: pick(s, "", "layer"), Hash: guidon.BucketHash(s.random.IntN(5))} // #nosec G115 -- few
}

func (s *Source) splitOrNil() *guidon.Split {
	if split := s.split(); split != (guidon.Split{}) {
		return &split
	}
	return nil
}

func (s *Source) editTimes(c *guidon.Conditions) {
	c.From, c.Until = time.Time{}, time.Time{}
	if s.one(2) {
		c.From = s.instant()
	}
	if s.one(2) {
		c.Until = s.instant().Add(30 * time.Hour)
	}
}

// editedRamp returns another ramp of a share that begins at start, or nil.
func (s *Source) editedRamp(r *guidon.Ramp, start float32) *guidon.Ramp {
	if r = r.Clone(); r == nil || s.one(3) {
		r = &guidon.Ramp{Start: s.instant(), Initial: pick[float32](s, 0, 0, 10)}
		if s.one(2) {
			r.Over = pick(s, 10*time.Hour, 100*time.Minute)
		} else {
			r.Steps = []guidon.RampStep{{Percentage: s.percentage(), For: time.Hour}, {Percentage: s.percentage(), For: 2 * time.Hour}}
		}
	} else {
		switch s.random.IntN(6) {
		case 0:
			return nil
		case 1:
			r.Start = s.instant()
		case 2:
			r.Paused = pick(s, time.Time{}, s.instant())
		case 3:
			r.Reversed = pick(s, time.Time{}, s.instant())
		case 4:
			r.Delay = pick(s, 0, time.Hour)
		default:
			r.Confirm = &guidon.RampConfirm{Every: pick(s, time.Hour, 3*time.Hour), Lapse: guidon.RampLapse(s.random.IntN(2))} // #nosec G115 -- 0 or 1
			if s.one(2) {
				r.Confirm.Last = s.instant()
			}
		}
	}
	s.fitRamp(r, start)
	return r
}

// fitRamp limits the percentages of the ramp, which may be nil, to what a share can have that begins at start.
func (s *Source) fitRamp(r *guidon.Ramp, start float32) {
	if r == nil {
		return
	}
	r.Initial = min(r.Initial, 100-start)
	for i := range r.Steps {
		r.Steps[i].Percentage = min(r.Steps[i].Percentage, 100-start)
	}
}

// requirements returns those of a flag or rule: of one of the flags with the keys in Requirable, or none.
func (s *Source) requirements() []guidon.Requirement {
	if len(s.Requirable) == 0 || s.one(3) {
		return nil
	}
	answers := pick(s, nil, nil, []string{"false"}, []string{"red"}, []string{"green", "blue"})
	return []guidon.Requirement{{FlagKey: pick(s, s.Requirable...), Answers: slices.Clone(answers)}}
}

// RandomRule returns a rule without distributions that has additions, or nil half of the time.
func (s *Source) RandomRule() *guidon.Rule {
	if s.one(2) {
		return nil
	}
	r := new(guidon.Rule)
	r.SegmentKeys, r.SegmentOperator = s.segmentKeys()
	for range 3 {
		s.editRuleAdditions(r)
	}
	return r
}

// RandomRollout is RandomRule for a rollout, of segments or else a threshold.
func (s *Source) RandomRollout(ofSegments bool) *guidon.Rollout {
	if s.one(2) {
		return nil
	}
	r := new(guidon.Rollout)
	if ofSegments {
		r.Segment = &guidon.RolloutSegment{Value: s.one(2)}
		r.Segment.SegmentKeys, r.Segment.SegmentOperator = s.segmentKeys()
	} else {
		r.Threshold = &guidon.RolloutThreshold{Percentage: s.percentage(), Value: s.one(2)}
	}
	for range 3 {
		s.editRolloutAdditions(r)
	}
	return r
}
