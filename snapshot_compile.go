package guidon

import (
	"iter"
	"sync/atomic"
)

// CompiledFlag is a flag prepared for evaluation. Snapshots share it until the flag
// or one of its segments changes. It is safe for concurrent use.
type CompiledFlag struct {
	// The fields that most evaluations need are adjacent: with thousands of flags,
	// cache misses take longer than the evaluation.
	key            string
	hash           uint32 // hash state after the flag's key, for variant buckets
	kind           FlagType
	enabled        bool
	rollouts       []compiledRollout
	rules          []compiledRule
	defaultVariant *Variant // or nil
	flag           *Flag
	order          int // among flags that were created at the same position
	derived        atomic.Pointer[flagDerived]
	err            error // why it cannot be evaluated, or nil; then kind is UnreadableFlag
}

// compiledRule is a rule prepared for evaluation.
type compiledRule struct {
	audience    *Audience
	conditions  *compiledConditions // nil if there are none
	ranges      []bucketRange       // empty if no distribution has a share
	codeDefault bool
}

// compiledRollout is a rollout prepared for evaluation.
type compiledRollout struct {
	audience   *Audience           // nil for a threshold
	conditions *compiledConditions // nil if there are none
	share      *compiledShare      // of a threshold, unless it is a percentage in the flag's own way
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

// Steps yields the rules or rollouts that may decide the result, by their index in the flag,
// with their audience, which is nil for a threshold.
func (f *CompiledFlag) Steps() iter.Seq2[int, *Audience] {
	return func(yield func(int, *Audience) bool) {
		for i := range f.rules {
			if a := f.rules[i].audience; a != nobody && !yield(i, a) {
				return
			}
		}
		for i := range f.rollouts {
			if a := f.rollouts[i].audience; a != nobody && !yield(i, a) {
				return
			}
		}
	}
}

func compileFlag(f *Flag, segments segmentIndex) *CompiledFlag {
	c := &CompiledFlag{key: f.Key, kind: f.Type, enabled: f.Enabled, flag: f, err: segments.unreadable(f)}
	switch f.Type {
	case VariantFlag:
		c.hash = updateHash(hashStart, f.Key)
		c.defaultVariant = f.DefaultVariant()
		c.compileRules(segments)
	case BooleanFlag:
		c.compileRollouts(segments)
	}
	if c.err != nil {
		c.kind = UnreadableFlag
	}
	return c
}

func (c *CompiledFlag) compileRules(segments segmentIndex) {
	if len(c.flag.Rules) == 0 {
		return
	}
	variants := variantsByID(c.flag)
	c.rules = make([]compiledRule, len(c.flag.Rules))
	for i, r := range c.flag.Rules {
		to := &c.rules[i]
		to.audience, to.conditions = segments.target(r.SegmentKeys, r.SegmentOperator, &r.Conditions, r.Split, c.key)
		to.ranges, to.codeDefault = compileRanges(r.Distributions, variants, to.conditions.buckets()), r.CodeDefault
	}
}

// target returns whom a rule of the flag with the key is for.
func (x segmentIndex) target(
	keys []string, operator SegmentOperator, c *Conditions, split *Split, key string,
) (*Audience, *compiledConditions) {
	audience, groups := x.audienceOf(keys, operator, c)
	conditions, matches := x.conditions(c, groups, split, key)
	if !matches {
		return nobody, nil
	}
	return audience, conditions
}

func variantsByID(f *Flag) map[string]*Variant {
	variants := make(map[string]*Variant, len(f.Variants))
	for _, v := range f.Variants {
		variants[v.ID] = v
	}
	return variants
}

func (c *CompiledFlag) compileRollouts(segments segmentIndex) {
	if len(c.flag.Rollouts) == 0 {
		return
	}
	c.rollouts = make([]compiledRollout, len(c.flag.Rollouts))
	for i, r := range c.flag.Rollouts {
		switch t, s := r.Threshold, r.Segment; {
		case t != nil:
			c.rollouts[i] = compiledRollout{percentage: t.Percentage, value: t.Value, share: compileThreshold(t, c.key)}
		case s != nil:
			c.rollouts[i].value = s.Value
			c.rollouts[i].audience, c.rollouts[i].conditions = segments.target(s.SegmentKeys, s.SegmentOperator, &r.Conditions, nil, c.key)
		default:
			c.rollouts[i] = compiledRollout{audience: nobody}
		}
	}
}
