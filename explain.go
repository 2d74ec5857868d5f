package guidon

// Explanation is how the evaluation of a flag for an entity comes to its result. It refers
// to objects of the snapshot, which must not be modified.
type Explanation struct {
	Flag    *Flag
	Variant *VariantResult // of a variant flag, otherwise nil
	Boolean *BooleanResult // of a boolean flag, otherwise nil
	Steps   []ExplainedStep
	Decided int // index of the step that decided the result, or -1 if none did
	Others  []OtherResult
	Limited bool // Others is incomplete or undecided, because its limit of work was reached
}

// MaxExplainedSteps is the largest number of rules or rollouts of a flag that can be
// explained.
const MaxExplainedSteps = 10_000

// Explain evaluates a flag of either type and explains the result. It returns NotFound if
// the flag does not exist, the errors of [CompiledFlag.Variant] and [CompiledFlag.Boolean],
// and TooLarge if the flag has more than [MaxExplainedSteps] rules or rollouts.
//
// Constraints are compared by the matchers of the evaluation, all of them: also those that
// an evaluation skips because another one has decided about their segment.
func (s *Snapshot) Explain(flagKey, entityID string, context map[string]string) (*Explanation, error) {
	f := s.flagByKey.get(flagKey)
	if f == nil {
		return nil, FlagNotFound(s.namespace.Key, flagKey)
	}
	return s.explainCompiled(f, entityID, context)
}

// ExplainFlag is Explain for the flag as it would be if it were stored as f, which may be a
// new flag.
func (s *Snapshot) ExplainFlag(f *Flag, entityID string, context map[string]string) (*Explanation, error) {
	return s.explainCompiled(compileFlag(f, s.segmentsByKey), entityID, context)
}

func (s *Snapshot) explainCompiled(f *CompiledFlag, entityID string, context map[string]string) (*Explanation, error) {
	x, err := s.newExplainer(f, entityID, context)
	if err != nil {
		return nil, err
	}
	e, err := x.evaluate()
	if err != nil {
		return nil, err
	}
	e.Steps = x.path(e.Decided)
	x.addOthers(e)
	return e, nil
}

// Decide is Explain without the path and the other results.
func (s *Snapshot) Decide(flagKey, entityID string, context map[string]string) (*Explanation, error) {
	f := s.flagByKey.get(flagKey)
	if f == nil {
		return nil, FlagNotFound(s.namespace.Key, flagKey)
	}
	x, err := s.newExplainer(f, entityID, context)
	if err != nil {
		return nil, err
	}
	return x.evaluate()
}

// explainer is one explanation while it is made.
type explainer struct {
	segments segmentIndex
	flag     *CompiledFlag
	steps    []step
	entityID string
	context  map[string]string
	bucket   int // of the entity

	lists       chunk[*ExplainedSegment]
	explained   chunk[ExplainedSegment]
	constraints chunk[ExplainedConstraint]
}

func (s *Snapshot) newExplainer(f *CompiledFlag, entityID string, context map[string]string) (*explainer, error) {
	if max(len(f.flag.Rules), len(f.flag.Rollouts)) > MaxExplainedSteps {
		return nil, Errorf(TooLarge, "flag %q has more than %d rules or rollouts, which cannot be explained", f.key, MaxExplainedSteps)
	}
	x := &explainer{segments: s.segmentsByKey, flag: f, entityID: entityID, context: context}
	x.steps = x.resolve()
	if f.kind == VariantFlag {
		x.bucket = variantBucket(f.hash, entityID)
	} else {
		x.bucket = booleanBucket(f.key, entityID)
	}
	return x, nil
}

// evaluate returns the result and the step that decided it.
func (x *explainer) evaluate() (*Explanation, error) {
	e := &Explanation{Flag: x.flag.flag, Decided: -1}
	if x.flag.kind == BooleanFlag {
		result, err := x.flag.Boolean(x.entityID, x.context)
		if err != nil {
			return nil, err
		}
		e.Boolean = &result
	} else {
		result, err := x.flag.Variant(x.entityID, x.context)
		if err != nil {
			return nil, err
		}
		e.Variant = &result
		if !x.flag.enabled {
			return e, nil
		}
	}
	for i := range x.steps {
		matched, err := x.matches(&x.steps[i])
		if err != nil {
			return nil, err
		}
		if matched {
			e.Decided = i
			break
		}
	}
	return e, nil
}

// matches reports whether the entity reaches no step after this one.
func (x *explainer) matches(s *step) (bool, error) {
	switch {
	case s.audience != nil:
		keys, err := s.audience.match(x.entityID, x.context)
		return keys != nil, err
	case s.rollout != nil:
		return float32(x.bucket) < s.rollout.percentage, nil
	}
	return false, nil
}
