package guidon

import "sync/atomic"

// CompiledFlag is a flag in the form that evaluation works on, of which snapshots
// that have the flag in common share one. It is safe for concurrent use.
type CompiledFlag struct {
	// What most evaluations need is close together: where there are thousands of
	// flags, finding each piece in memory takes longer than what is done with it.
	// What can never decide anything is left out.
	key      string
	hash     uint32 // hash state after the flag's key, for variant buckets
	kind     FlagType
	enabled  bool
	rollouts []compiledRollout
	rules    []compiledRule
	initial  *Variant // the default one, or nil
	flag     *Flag
	derived  atomic.Pointer[flagDerived]
}

// compiledRule is a rule whose segments all exist.
type compiledRule struct {
	audience *audience
	ranges   []bucketRange // none: there is nothing to choose from
}

// compiledRollout is a threshold, or a rollout whose segments all exist.
type compiledRollout struct {
	audience   *audience // nil for a threshold
	percentage float32   // of a threshold
	value      bool
}

// Flag returns the flag itself, which is not to be changed.
func (f *CompiledFlag) Flag() *Flag { return f.flag }

// Kind returns the type of the flag.
func (f *CompiledFlag) Kind() FlagType { return f.kind }

func compileFlag(f *Flag, segments segmentIndex) *CompiledFlag {
	c := &CompiledFlag{key: f.Key, kind: f.Type, enabled: f.Enabled, flag: f}
	switch f.Type {
	case VariantFlag:
		c.hash = updateHash(hashStart, f.Key)
		c.initial = f.DefaultVariant()
		c.compileRules(segments)
	case BooleanFlag:
		c.compileRollouts(segments)
	}
	return c
}

func (c *CompiledFlag) compileRules(segments segmentIndex) {
	if len(c.flag.Rules) == 0 {
		return
	}
	variants := make(map[string]*Variant, len(c.flag.Variants))
	for _, v := range c.flag.Variants {
		variants[v.ID] = v
	}
	c.rules = make([]compiledRule, 0, len(c.flag.Rules))
	for _, r := range c.flag.Rules {
		if who := segments.audience(r.SegmentKeys, r.SegmentOperator); who != nil {
			c.rules = append(c.rules, compiledRule{audience: who, ranges: compileRanges(r.Distributions, variants)})
		}
	}
}

func (c *CompiledFlag) compileRollouts(segments segmentIndex) {
	if len(c.flag.Rollouts) == 0 {
		return
	}
	c.rollouts = make([]compiledRollout, 0, len(c.flag.Rollouts))
	for _, r := range c.flag.Rollouts {
		switch {
		case r.Threshold != nil:
			c.rollouts = append(c.rollouts, compiledRollout{percentage: r.Threshold.Percentage, value: r.Threshold.Value})
		case r.Segment != nil:
			if who := segments.audience(r.Segment.SegmentKeys, r.Segment.SegmentOperator); who != nil {
				c.rollouts = append(c.rollouts, compiledRollout{audience: who, value: r.Segment.Value})
			}
		}
	}
}
