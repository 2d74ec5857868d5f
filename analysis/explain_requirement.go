package analysis

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

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
