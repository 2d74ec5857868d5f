package guidon

// compiledFlag is a flag in the form that evaluation works on. What can never
// decide anything is left out of it.
type compiledFlag struct {
	flag     *Flag
	hash     uint32        // hash state after the flag's key, for variant buckets
	initial  VariantResult // the answer until a rule says otherwise
	rules    []compiledRule
	rollouts []compiledRollout
}

// compiledRule is a rule whose segments all exist.
type compiledRule struct {
	audience audience
	ranges   []bucketRange // none: there is nothing to choose from
}

// compiledRollout is a threshold, or a rollout whose segments all exist.
type compiledRollout struct {
	value      bool
	threshold  bool
	percentage float32  // of a threshold
	audience   audience // of a segment rollout
}

func compileFlag(f *Flag, segments segmentIndex) *compiledFlag {
	c := &compiledFlag{flag: f}
	switch f.Type {
	case VariantFlag:
		c.hash = updateHash(hashStart, f.Key)
		if v := f.DefaultVariant(); v != nil {
			c.initial = VariantResult{Reason: ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
		}
		c.compileRules(segments)
	case BooleanFlag:
		c.compileRollouts(segments)
	}
	return c
}

func (c *compiledFlag) compileRules(segments segmentIndex) {
	if len(c.flag.Rules) == 0 {
		return
	}
	variants := make(map[string]*Variant, len(c.flag.Variants))
	for _, v := range c.flag.Variants {
		variants[v.ID] = v
	}
	c.rules = make([]compiledRule, 0, len(c.flag.Rules))
	for _, r := range c.flag.Rules {
		if who, ok := segments.audience(r.SegmentKeys, r.SegmentOperator); ok {
			c.rules = append(c.rules, compiledRule{audience: who, ranges: compileRanges(r.Distributions, variants)})
		}
	}
}

func (c *compiledFlag) compileRollouts(segments segmentIndex) {
	if len(c.flag.Rollouts) == 0 {
		return
	}
	c.rollouts = make([]compiledRollout, 0, len(c.flag.Rollouts))
	for _, r := range c.flag.Rollouts {
		switch {
		case r.Threshold != nil:
			c.rollouts = append(c.rollouts, compiledRollout{
				threshold: true, percentage: r.Threshold.Percentage, value: r.Threshold.Value,
			})
		case r.Segment != nil:
			if who, ok := segments.audience(r.Segment.SegmentKeys, r.Segment.SegmentOperator); ok {
				c.rollouts = append(c.rollouts, compiledRollout{audience: who, value: r.Segment.Value})
			}
		}
	}
}
