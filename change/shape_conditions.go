package change

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
)

// conditions are the members for the conditions of a rule or rollout.
type conditions[T any] struct {
	shape[T]
	field func(*T) **guidon.Conditions
}

func (c conditions[T]) own(t *T) { *c.field(t) = (*c.field(t)).Clone() }

func newConditions[T any](field func(*T) **guidon.Conditions) conditions[T] {
	var members shape[T]
	at := func(t *T) *guidon.Conditions { return (*field(t)).Stated() }
	for _, v := range []*value[T]{
		whole("groups", "conditions", func(t *T) *[]*guidon.ConstraintGroup { return &at(t).Groups },
			func(g []*guidon.ConstraintGroup) string { return groupsWords(g, 2*maxQuoted) }),
		keys("exceptSegmentKeys", "exceptions", func(t *T) *[]string { return &at(t).ExceptSegmentKeys }).ifSet(),
		plain("everyone", "for everyone", func(t *T) *bool { return &at(t).Everyone }).ifSet(),
		requirements(func(t *T) *[]guidon.Requirement { return &at(t).Requires }),
		portion(func(t *T) **guidon.Portion { return &at(t).Portion }),
		instant("from", "start time", func(t *T) *time.Time { return &at(t).From }),
		instant("until", "end time", func(t *T) *time.Time { return &at(t).Until }),
	} {
		set := v.set
		v.set = func(to, from *T) { // in a copy: others may have the same conditions
			copied := *at(to)
			*field(to) = &copied
			set(to, from)
			*field(to) = copied.OrNil().Clone()
		}
		members = append(members, v)
	}
	return conditions[T]{members, field}
}

// instant returns the member for a time, which may be unset.
func instant[T any](json, name string, at func(*T) *time.Time) *value[T] {
	v := shown(json, name, at, func(t *T) any { return bareText(analysis.InstantWords(*at(t))) })
	v.get = func(_ *guidon.Flag, t *T) any {
		if at(t).IsZero() {
			return ""
		}
		return at(t).Format(time.RFC3339)
	}
	return v
}

// timesWords returns when a rule holds, such as ", from 1 December 2026 09:00 UTC", or "".
func timesWords(c *guidon.Conditions) string {
	if words := analysis.TimesWords(c); words != "" {
		return ", " + words
	}
	return ""
}

// requirements returns the member for required flags.
func requirements[T any](at func(*T) *[]guidon.Requirement) *value[T] {
	v := whole("requires", "required flags", at, func(all []guidon.Requirement) string { return RequirementsWords(all, "is") })
	v.set = func(to, from *T) { *at(to) = guidon.CloneRequirements(*at(from)) }
	return v
}

// RequirementsWords returns the requirements in words, such as "new-api is true and price is b or c". be is
// the verb: "is", or "to be" after "needs".
func RequirementsWords(all []guidon.Requirement, be string) string {
	words := lists.Map(all, func(r guidon.Requirement) string {
		return bare(r.FlagKey) + " " + be + " " + strings.Join(lists.Map(r.Stated(), bare), " or ")
	})
	return strings.Join(words, " and ")
}

// portion returns the member for a portion.
func portion[T any](at func(*T) **guidon.Portion) *value[T] {
	v := whole("portion", "portion", at, func(p *guidon.Portion) string { return PortionWords(p, "") })
	v.show = func(t *T) any {
		p := *at(t)
		if p == nil || p.Ramp == nil {
			return bareText(PortionWords(p, ""))
		}
		rest := *p
		rest.Ramp = nil
		return ramped{PortionWords(&rest, ""), p.Ramp}
	}
	return v
}

// split returns the member for a way to divide.
func split[T any](at func(*T) **guidon.Split) *value[T] {
	v := whole("split", "divided", at, func(s *guidon.Split) string {
		if s == nil {
			return ""
		}
		return SplitWords(*s)
	})
	v.set = func(to, from *T) {
		if *at(to) = *at(from); *at(to) != nil {
			*at(to) = new(**at(from))
		}
	}
	return v
}

// whole returns the member for a field with pointers, which JSON forms have only if it is set. Its
// set copies the pointers.
func whole[T, V any](json, name string, at func(*T) *V, words func(V) string) *value[T] {
	return &value[T]{
		json: json, words: name, optional: true,
		equal: func(_ *sides, before, after *T) bool { return reflect.DeepEqual(*at(before), *at(after)) },
		get:   func(_ *guidon.Flag, t *T) any { return *at(t) },
		show:  func(t *T) any { return bareText(words(*at(t))) },
		set:   func(to, from *T) { *at(to) = *at(from) },
	}
}

// groupsWords returns the groups in words, each in at most about limit bytes, such as "app is at
// least 2.4, and any of 2: ...".
func groupsWords(groups []*guidon.ConstraintGroup, limit int) string {
	words := lists.Map(groups, func(g *guidon.ConstraintGroup) string {
		return analysis.DescribeSegment(&guidon.Segment{MatchType: g.MatchType, Constraints: g.Constraints}, limit)
	})
	return strings.Join(words, ", and ")
}

// PortionWords returns the portion in words, such as "10% of them by account". of follows its
// percentage, such as " of them".
func PortionWords(p *guidon.Portion, of string) string {
	if p == nil {
		return ""
	}
	text := analysis.PercentWords(p.Percentage) + of
	if p.Start != 0 {
		text += " from " + analysis.PercentWords(p.Start)
	}
	if p.Split != (guidon.Split{}) {
		text += " " + SplitWords(p.Split)
	}
	if p.Ramp != nil {
		text += ", " + rampWords(p.Ramp)
	}
	return text
}

// thresholdWords is [PortionWords] for a share of all entities.
func thresholdWords(t *guidon.RolloutThreshold) string {
	return PortionWords(&guidon.Portion{Percentage: t.Percentage, Start: t.Start, Split: t.Split.Stated(), Ramp: t.Ramp}, "")
}

// SplitWords returns the way to divide in words, such as "by account, with the seed layer".
func SplitWords(s guidon.Split) string {
	var words []string
	if s.By != "" {
		words = append(words, "by "+bare(s.By))
	}
	if s.Seed != "" {
		words = append(words, "with the seed "+bare(s.Seed))
	}
	if s.Hash != guidon.DefaultHash {
		words = append(words, fmt.Sprintf("hashed by %s", s.Hash))
	}
	return strings.Join(words, ", ")
}

// targetWords is [TargetWords] with the keys of the segments, in a length for summaries.
func targetWords(keys []string, c *guidon.Conditions) string {
	const limit = 2 * maxQuoted
	segments := ""
	if len(keys) > 0 {
		segments = "segments " + guidon.Shorten(keyList(keys), limit)
	}
	return TargetWords(segments, c, limit)
}

// TargetWords returns whom a rule is for, such as "segments beta, if app is at least 2.4, 10%
// of them". segments are the words for its segments, and limit is how much of each list of
// conditions the text has, in bytes.
func TargetWords(segments string, c *guidon.Conditions, limit int) string {
	var words []string
	switch {
	case segments != "":
		words = append(words, segments)
	case len(c.Groups) == 0:
		words = append(words, "everyone")
	}
	if len(c.Groups) > 0 {
		words = append(words, "if "+guidon.Shorten(groupsWords(c.Groups, limit), limit))
	}
	if len(c.ExceptSegmentKeys) > 0 {
		words = append(words, "except "+guidon.Shorten(keyList(c.ExceptSegmentKeys), limit))
	}
	if len(c.Requires) > 0 {
		words = append(words, "needs "+guidon.Shorten(RequirementsWords(c.Requires, "to be"), limit))
	}
	if c.Portion != nil {
		words = append(words, PortionWords(c.Portion, " of them"))
	}
	return strings.Join(words, ", ") + timesWords(c)
}
