package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

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

// ExplainedRequirement is a requirement of a flag or rule, with what the required flag answers.
type ExplainedRequirement struct {
	FlagKey string
	Answers []string // one of which it must give
	Exists  bool
	Answer  string // what it gives: "true" or "false", the key of a variant, or "" for none
	Met     bool
	Fails   bool // its evaluation does
}

// String returns the requirement in words, such as "new-api is false, and must be true".
func (r ExplainedRequirement) String() string {
	quoted := func(answer string) string {
		if answer == "true" || answer == "false" {
			return answer
		}
		return strconv.Quote(guidon.Shorten(answer, maxSaid))
	}
	must := strings.Join(lists.Map(r.Answers, quoted), " or ")
	switch {
	case !r.Exists:
		return fmt.Sprintf("%s does not exist, and must be %s", r.FlagKey, must)
	case r.Fails:
		return fmt.Sprintf("%s cannot be evaluated, and must be %s", r.FlagKey, must)
	case r.Met:
		return fmt.Sprintf("%s is %s", r.FlagKey, quoted(r.Answer))
	case r.Answer == "":
		return fmt.Sprintf("%s has no variant, and must be %s", r.FlagKey, must)
	}
	return fmt.Sprintf("%s is %s, and must be %s", r.FlagKey, quoted(r.Answer), must)
}

// requirements explains requirements for the entity. One whose evaluation fails has no answer; that of
// the flag fails too if it gets there.
func (x *explainer) requirements(all []guidon.CompiledRequirement) (list []ExplainedRequirement) {
	for i := range all {
		r := &all[i]
		answer, err := r.Answer(x.entityID, x.context, new(bool))
		list = append(list, ExplainedRequirement{
			FlagKey: r.Key, Answers: r.Answers, Exists: r.Flag != nil, Answer: answer, Met: err == nil && r.Accepts(answer), Fails: err != nil,
		})
	}
	return list
}

// unmet returns the key of the first flag that does not answer as the step requires, or "".
func (x *explainer) unmet(s *step) string {
	if s.Conditions == nil {
		return ""
	}
	key, _ := guidon.Unmet(s.Conditions.Requires, x.entityID, x.context, new(bool)) // one that fails does not answer so
	return key
}

// readContext reports whether the answer of a required flag depends on the context.
func readContext(all []guidon.CompiledRequirement) bool {
	for i := range all {
		if all[i].Flag == nil {
			continue
		}
		for _, f := range all[i].Flag.WithRequired() {
			for _, s := range stepsOf(f) {
				if s.readsContext() {
					return true
				}
			}
		}
	}
	return false
}

// readsContext reports whether what the step does depends on the context, whatever it requires.
func (s *step) readsContext() bool {
	segments := s.also()
	if s.Audience != nil {
		segments = append(segments[:len(segments):len(segments)], s.Audience.Segments()...)
	}
	for _, g := range segments {
		for _, c := range g.Segment().Constraints {
			if !subjectOf(c).entity {
				return true
			}
		}
	}
	return s.hashesProperty()
}
