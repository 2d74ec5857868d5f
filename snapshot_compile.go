package guidon

import (
	"iter"
	"sync/atomic"
)

// CompiledFlag is a flag prepared for evaluation. Snapshots share it until the flag, one of
// its segments or a flag that it requires changes. It is safe for concurrent use.
type CompiledFlag struct {
	// The fields that most evaluations need are adjacent: with thousands of flags,
	// cache misses take longer than the evaluation.
	key            string
	hash           uint32 // hash state after the flag's key, for variant buckets
	kind           FlagType
	enabled        bool
	rollouts       []compiledRollout
	rules          []compiledRule
	requires       []CompiledRequirement
	defaultVariant *Variant // or nil
	flag           *Flag
	order          int // among flags that were created at the same position
	derived        atomic.Pointer[flagDerived]
	err            error // why it cannot be evaluated, or nil; then kind is UnreadableFlag
}

// compiledRule is a rule prepared for evaluation.
type compiledRule struct {
	audience    *Audience
	conditions  *CompiledConditions // nil if there are none
	ranges      []bucketRange       // empty if no distribution has a share
	codeDefault bool
}

// compiledRollout is a rollout prepared for evaluation.
type compiledRollout struct {
	audience   *Audience           // nil for a threshold
	conditions *CompiledConditions // nil if there are none
	share      *BucketShare        // of a threshold, unless it is a percentage in the flag's own way
	percentage float32             // of the threshold
	value      bool
}

// Flag returns the flag itself. The caller must not modify it.
func (f *CompiledFlag) Flag() *Flag { return f.flag }

// Err returns why the flag cannot be evaluated, or nil: it or one of its segments is
// [Unreadable].
func (f *CompiledFlag) Err() error { return f.err }

// Kind returns the type of the flag, or UnreadableFlag if it cannot be evaluated.
func (f *CompiledFlag) Kind() FlagType { return f.kind }

// Step is a rule or rollout that may decide the result.
type Step struct {
	Audience   *Audience           // nil for a threshold
	Conditions *CompiledConditions // nil if there are none
}

// Steps yields the rules or rollouts that may decide the result, by their index in the flag.
func (f *CompiledFlag) Steps() iter.Seq2[int, Step] {
	return func(yield func(int, Step) bool) {
		for i := range f.rules {
			if r := &f.rules[i]; r.audience != nobody && !yield(i, Step{r.audience, r.conditions}) {
				return
			}
		}
		for i := range f.rollouts {
			if r := &f.rollouts[i]; r.audience != nobody && !yield(i, Step{r.audience, r.conditions}) {
				return
			}
		}
	}
}

// Divider returns how the distributions of the rule with the index divide its entities.
func (f *CompiledFlag) Divider(rule int) Bucketer {
	return newBucketer(f.flag.Rules[rule].Split.Stated(), f.key)
}

// Threshold returns the share of the threshold with the index among the rollouts.
func (f *CompiledFlag) Threshold(rollout int) BucketShare {
	t := f.flag.Rollouts[rollout].Threshold
	return newBucketShare(newThresholdBucketer(t, f.key), t.Start, f.rollouts[rollout].percentage)
}

// compileFlag compiles the flag for an epoch. A rule that is not in force never matches.
func compileFlag(f *Flag, segments segmentIndex, epoch int64) *CompiledFlag {
	c := &CompiledFlag{key: f.Key, kind: f.Type, enabled: f.Enabled, flag: f, requires: compileRequirements(f.Requires), err: segments.unreadable(f)}
	switch f.Type {
	case VariantFlag:
		c.hash = updateHash(hashStart, f.Key)
		c.defaultVariant = f.DefaultVariant()
		c.compileRules(segments, epoch)
	case BooleanFlag:
		c.compileRollouts(segments, epoch)
	}
	if c.err != nil {
		c.kind = UnreadableFlag
	}
	return c
}

func (c *CompiledFlag) compileRules(segments segmentIndex, epoch int64) {
	if len(c.flag.Rules) == 0 {
		return
	}
	variants := make(map[string]*Variant, len(c.flag.Variants))
	for _, v := range c.flag.Variants {
		variants[v.ID] = v
	}
	c.rules = make([]compiledRule, len(c.flag.Rules))
	for i, r := range c.flag.Rules {
		to := &c.rules[i]
		if !r.Stated().InForce(epoch) {
			to.audience = nobody
			continue
		}
		to.audience, to.conditions = segments.target(r.SegmentKeys, r.SegmentOperator, r.Stated(), r.Split, c.key, epoch)
		to.ranges, to.codeDefault = compileRanges(r.Distributions, variants, to.conditions.buckets()), r.CodeDefault
	}
}

// target returns whom a rule of the flag with the key is for in the epoch.
func (x segmentIndex) target(
	keys []string, operator SegmentOperator, c *Conditions, split *Split, key string, epoch int64,
) (*Audience, *CompiledConditions) {
	audience, also := x.audienceOf(keys, operator, c)
	conditions, matches := c.compile(also, split, key, epoch)
	switch {
	case !matches || audience == nobody || also == nobody:
		return nobody, nil
	case also != nil && also.unknown:
		audience = &Audience{segments: audience.segments, keys: audience.keys, all: audience.all, unknown: true}
	}
	return audience, conditions
}

func (c *CompiledFlag) compileRollouts(segments segmentIndex, epoch int64) {
	if len(c.flag.Rollouts) == 0 {
		return
	}
	c.rollouts = make([]compiledRollout, len(c.flag.Rollouts))
	for i, r := range c.flag.Rollouts {
		switch t, s := r.Threshold, r.Segment; {
		case !r.Stated().InForce(epoch) || t == nil && s == nil:
			c.rollouts[i].audience = nobody
		case t != nil:
			c.rollouts[i] = compiledRollout{percentage: t.Ramp.PercentageAt(epoch, t.Percentage), value: t.Value}
			if t.Start != 0 || t.Split.Stated() != (Split{}) {
				c.rollouts[i].share = new(c.Threshold(i))
			}
		default:
			c.rollouts[i].value = s.Value
			c.rollouts[i].audience, c.rollouts[i].conditions = segments.target(s.SegmentKeys, s.SegmentOperator, r.Stated(), nil, c.key, epoch)
		}
	}
}
