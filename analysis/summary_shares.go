package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/guidonhq/guidon"
)

// AnswerShare is an answer for some of [guidon.FineBuckets].
type AnswerShare struct {
	Answer
	Buckets int32
}

// Percentage returns the share in percent.
func (s AnswerShare) Percentage() float32 { return float32(s.Buckets) * 100 / guidon.FineBuckets }

// everyoneElse returns [Summary.EveryoneElse]. Shares that are taken in different ways are
// independent of each other.
func (f *summarized) everyoneElse() []AnswerShare {
	var shares answerShares
	covered, open := 0, 1.0 // the buckets of thresholds, and the part of all others that portions leave
	rest := everyoneGets(f.defaultAnswer())
	for i, step := range f.steps() {
		var taken *guidon.BucketShare
		switch {
		case step.Audience == nil:
			t := f.Threshold(i)
			if end := plainEnd(f.flag, &t); end > 0 {
				shares.add(open*float64(end-covered), Answer{Enabled: f.flag.Rollouts[i].Threshold.Value})
				covered = max(covered, end)
				continue
			}
			taken = &t
		case step.Audience.Err() == nil && (!isOpen(step) || step.Conditions != nil && len(step.Conditions.Requires) > 0):
			continue
		case step.Conditions != nil:
			taken = step.Conditions.Portion
		}
		given := f.given(i, step)
		if taken == nil {
			rest = given
			break
		}
		part := float64(taken.End-taken.Start) / float64(taken.Buckets())
		shares.addAll(given, part*open*float64(guidon.FineBuckets-covered))
		open *= 1 - part
	}
	shares.addAll(rest, float64(guidon.FineBuckets-shares.sum()))
	return shares.sorted()
}

// plainEnd returns the fine bucket at which the share of a threshold ends that has the first of the
// flag's own buckets, or all of any, and 0 for another.
func plainEnd(f *guidon.Flag, s *guidon.BucketShare) int {
	if !isPlain(f, s) {
		return 0
	}
	return s.End * (guidon.FineBuckets / s.Buckets())
}

// given returns the answers of a rule or rollout for those whom it decides.
func (f *summarized) given(i int, step guidon.Step) []AnswerShare {
	switch {
	case step.Audience != nil && step.Audience.Err() != nil:
		return everyoneGets(Answer{Fails: true})
	case f.Kind() == guidon.BooleanFlag:
		return everyoneGets(Answer{Enabled: rolloutValue(f.flag.Rollouts[i])})
	case f.flag.Rules[i].CodeDefault:
		return everyoneGets(Answer{Default: true})
	}
	var shares answerShares
	left, divider := guidon.FineBuckets, f.Divider(i)
	for share := range eachShare(f.flag, f.flag.Rules[i], &divider) {
		buckets := share.Buckets() * (guidon.FineBuckets / share.Of)
		shares.add(float64(buckets), Answer{Variant: f.flag.VariantByKey(share.Variant)})
		left -= buckets
	}
	shares.add(float64(left), f.defaultAnswer())
	return shares.sorted()
}

// The most frequent summaries of boolean flags are shared.
var (
	everyoneTrue  = []AnswerShare{{Answer{Enabled: true}, guidon.FineBuckets}}
	everyoneFalse = []AnswerShare{{Answer{Enabled: false}, guidon.FineBuckets}}
)

// everyoneGets returns the answer for all.
func everyoneGets(a Answer) []AnswerShare {
	switch a {
	case everyoneTrue[0].Answer:
		return everyoneTrue
	case everyoneFalse[0].Answer:
		return everyoneFalse
	}
	return []AnswerShare{{a, guidon.FineBuckets}}
}

// answerShares collects shares by answer.
type answerShares []AnswerShare

func (s *answerShares) add(buckets float64, a Answer) {
	n := int32(math.Round(buckets))
	if n <= 0 {
		return
	}
	for i := range *s {
		if (*s)[i].Answer == a {
			(*s)[i].Buckets += n
			return
		}
	}
	*s = append(*s, AnswerShare{a, n})
}

// addAll divides the buckets as the shares do.
func (s *answerShares) addAll(shares []AnswerShare, buckets float64) {
	for _, share := range shares {
		s.add(buckets*float64(share.Buckets)/guidon.FineBuckets, share.Answer)
	}
}

func (s answerShares) sum() (buckets int) {
	for _, share := range s {
		buckets += int(share.Buckets)
	}
	return buckets
}

// sorted returns the shares, the largest first.
func (s answerShares) sorted() []AnswerShare {
	if len(s) == 1 {
		return everyoneGets(s[0].Answer)
	}
	slices.SortStableFunc(s, func(a, b AnswerShare) int { return cmp.Compare(b.Buckets, a.Buckets) })
	return slices.Clip([]AnswerShare(s))
}
