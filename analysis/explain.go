package analysis

import "github.com/guidonhq/guidon"

// Explanation is how the evaluation of a flag for an entity comes to its result. It refers
// to objects of the snapshot, which must not be modified.
type Explanation struct {
	Flag         *guidon.Flag
	Timed        bool                   // the answers of the flag depend on the time
	Variant      *guidon.VariantResult  // of a variant flag, otherwise nil
	Boolean      *guidon.BooleanResult  // of a boolean flag, otherwise nil
	Requirements []ExplainedRequirement // of the flag itself
	Steps        []ExplainedStep
	Decided      int // index of the step that decided the result, or -1 if none did
	Others       []OtherResult
	Limited      bool // Others is incomplete or undecided, because its limit of work was reached
}

// MaxExplainedSteps is the largest number of rules or rollouts of a flag that can be
// explained.
const MaxExplainedSteps = 10_000

// Explain evaluates a flag of either type and explains the result. It returns NotFound if
// the flag does not exist, the errors of [guidon.CompiledFlag.Variant] and [guidon.CompiledFlag.Boolean],
// and TooLarge if the flag has more than [MaxExplainedSteps] rules or rollouts.
//
// Constraints are compared by the matchers of the evaluation, all of them: also those that
// an evaluation skips because another one has decided about their segment.
func Explain(s *guidon.Snapshot, flagKey, entityID string, context map[string]string) (*Explanation, error) {
	e, err := Decide(s, flagKey, entityID, context)
	if err != nil {
		return nil, err
	}
	compiled := s.Compiled(flagKey)
	x := &explainer{snapshot: s, compiled: compiled, flag: e.Flag, steps: stepsOf(compiled), entityID: entityID, context: context}
	e.Requirements = x.requirements(compiled.Requires())
	e.Steps = x.path(e)
	x.addOthers(e)
	return e, nil
}

// Decide is Explain without the path and the other results.
func Decide(s *guidon.Snapshot, flagKey, entityID string, context map[string]string) (*Explanation, error) {
	compiled := s.Compiled(flagKey)
	if compiled == nil {
		return nil, guidon.FlagNotFound(s.Namespace().Key, flagKey)
	}
	f := compiled.Flag()
	if max(len(f.Rules), len(f.Rollouts)) > MaxExplainedSteps {
		return nil, guidon.Errorf(guidon.TooLarge,
			"flag %q has more than %d rules, which cannot be explained", f.Key, MaxExplainedSteps)
	}
	e := &Explanation{Flag: f, Timed: compiled.LastBoundary() != 0}
	if f.Type == guidon.BooleanFlag {
		result, err := compiled.Boolean(entityID, context)
		if err != nil {
			return nil, err
		}
		e.Boolean, e.Decided = &result, int(result.Rule)-1
		return e, nil
	}
	result, err := compiled.Variant(entityID, context)
	if err != nil {
		return nil, err
	}
	e.Variant, e.Decided = &result, int(result.Rule)-1
	return e, nil
}

// explainer is one explanation while it is made.
type explainer struct {
	snapshot *guidon.Snapshot
	compiled *guidon.CompiledFlag
	flag     *guidon.Flag
	steps    []step
	entityID string
	context  map[string]string
}

// Unmet returns the key of the flag because of which the flag is off, or "".
func (e *Explanation) Unmet() string {
	if e.Boolean != nil {
		return e.Boolean.Unmet
	}
	return e.Variant.Unmet
}

// admits reports whether the entity meets the requirements of the step, is in its portion, and can be
// put into one of its shares.
func (x *explainer) admits(s *step) bool {
	c := s.Conditions
	switch {
	case c == nil:
		return true
	case x.unmet(s) != "":
		return false
	}
	if c.Split != nil {
		if _, found := c.Split.Value(x.entityID, x.context); !found {
			return false
		}
	}
	return c.Portion == nil || c.Portion.Has(x.entityID, x.context)
}
