package guidon

import (
	"slices"
	"strconv"
)

// Requirement is what a flag, or one of its rules, requires of another flag of its namespace.
type Requirement struct {
	FlagKey string   `json:"flagKey"`
	Answers []string `json:"answers,omitempty"` // "true" or "false", or keys of variants, one of which it must be; none means "true"
}

// CloneRequirements returns a deep copy, or nil if there are none.
func CloneRequirements(all []Requirement) []Requirement {
	if len(all) == 0 {
		return nil
	}
	clone := slices.Clone(all)
	for i := range clone {
		clone[i].Answers = slices.Clone(clone[i].Answers)
	}
	return clone
}

// answerTrue is what a requirement without answers is met by.
var answerTrue = []string{"true"}

// Stated returns the answers that meet the requirement.
func (r *Requirement) Stated() []string {
	if len(r.Answers) == 0 {
		return answerTrue
	}
	return r.Answers
}

// Requirements returns those of the flag and of its rules. The caller must not modify them.
func (f *Flag) Requirements() []Requirement {
	all := slices.Clip(f.Requires)
	for _, c := range f.EachConditions() {
		all = append(all, c.Requires...)
	}
	return all
}

// CompiledRequirement is a requirement prepared for evaluation. It must not be modified.
type CompiledRequirement struct {
	Key     string
	Flag    *CompiledFlag // nil if there is none: it is never met
	Answers []string      // one of which the flag must give
}

// Accepts reports whether the requirement is met if the flag gives the answer.
func (r *CompiledRequirement) Accepts(answer string) bool {
	return r.Flag != nil && slices.Contains(r.Answers, answer)
}

func compileRequirements(all []Requirement) []CompiledRequirement {
	if len(all) == 0 {
		return nil
	}
	compiled := make([]CompiledRequirement, len(all))
	for i := range all {
		compiled[i] = CompiledRequirement{Key: all[i].FlagKey, Answers: all[i].Stated()}
	}
	return compiled
}

// Unmet returns the key of the first flag that does not answer as required, or "". The error is that of
// evaluating the flag with the key. It sets bucketed if the entity's id was hashed.
func Unmet(all []CompiledRequirement, entityID string, context map[string]string, bucketed *bool) (key string, err error) {
	for i := range all {
		r := &all[i]
		answer, err := r.Answer(entityID, context, bucketed)
		if err != nil || !r.Accepts(answer) {
			return r.Key, err
		}
	}
	return "", nil
}

// Answer returns what the required flag answers: "true" or "false", the key of a variant, or "" if there
// is neither a variant nor such a flag. The error is that of the evaluation. It sets bucketed as [Unmet] does.
func (r *CompiledRequirement) Answer(entityID string, context map[string]string, bucketed *bool) (string, error) {
	f := r.Flag
	if f == nil {
		return "", nil
	}
	if f.kind == BooleanFlag {
		result, err := f.Boolean(entityID, context)
		if *bucketed = *bucketed || result.Bucketed; err != nil {
			return "", err
		}
		return strconv.FormatBool(result.Enabled), nil
	}
	result, err := f.Variant(entityID, context)
	*bucketed = *bucketed || result.Bucketed
	return result.VariantKey, err
}

// Requiring returns the flags that require others, themselves or in a rule, in no order.
func (s *Snapshot) Requiring() (flags []*Flag) {
	for key := range s.requiring {
		if f := s.Flag(key); f != nil {
			flags = append(flags, f)
		}
	}
	return flags
}

// dependents adds the flags to users that depend on the changed ones, whose keys are given, or on
// users themselves.
func (s *Snapshot) dependents(changed map[string]*Flag, users []*CompiledFlag) []*CompiledFlag {
	if len(s.requiring) == 0 {
		return users
	}
	stale := make(map[string]bool, len(changed)+len(users))
	for key := range changed {
		stale[key] = true
	}
	for _, f := range users {
		stale[f.key] = true
	}
	for grown := true; grown; {
		grown = false
		for key := range s.requiring {
			f := s.flagByKey.get(key)
			if stale[key] || f == nil || !f.requiresAny(stale) {
				continue
			}
			stale[key], grown = true, true
			users = append(users, f)
		}
	}
	return users
}

func (f *CompiledFlag) requiresAny(keys map[string]bool) bool {
	return slices.ContainsFunc(f.flag.Requirements(), func(r Requirement) bool { return keys[r.FlagKey] })
}

// link lets the requirements of flags that were just compiled point to flags. Those in a cycle,
// which no write permits, point to none.
func link(compiled []*CompiledFlag, flag func(key string) *CompiledFlag) {
	var cyclic []*CompiledRequirement
	for _, f := range compiled {
		for _, r := range f.requirements() {
			r.Flag = flag(r.Key)
		}
	}
	for _, f := range compiled {
		for _, r := range f.requirements() {
			if r.Flag != nil && r.Flag.reaches(f, map[*CompiledFlag]bool{}) {
				cyclic = append(cyclic, r)
			}
		}
	}
	for _, r := range cyclic {
		r.Flag = nil
	}
}

// reaches reports whether the flag is the target, or requires it directly or indirectly.
func (f *CompiledFlag) reaches(target *CompiledFlag, seen map[*CompiledFlag]bool) bool {
	if f == target {
		return true
	}
	if seen[f] {
		return false
	}
	seen[f] = true
	for _, r := range f.requirements() {
		if r.Flag != nil && r.Flag.reaches(target, seen) {
			return true
		}
	}
	return false
}

// Requires returns what the flag itself requires.
func (f *CompiledFlag) Requires() []CompiledRequirement { return f.requires }

// WithRequired returns the flag and those that it or one of its rules requires, directly or not, each
// once.
func (f *CompiledFlag) WithRequired() []*CompiledFlag {
	all := []*CompiledFlag{f}
	for i := 0; i < len(all); i++ {
		for _, r := range all[i].requirements() {
			if r.Flag != nil && !slices.Contains(all, r.Flag) {
				all = append(all, r.Flag)
			}
		}
	}
	return all
}

// LastBoundary returns the last boundary of the flag and of those that it requires, or 0 if there are
// none.
func (f *CompiledFlag) LastBoundary() (last int64) {
	for _, one := range f.WithRequired() {
		last = max(last, one.flag.LastBoundary())
	}
	return last
}

// requirements returns those of the flag and of its rules that are in force.
func (f *CompiledFlag) requirements() (all []*CompiledRequirement) {
	add := func(some []CompiledRequirement) {
		for i := range some {
			all = append(all, &some[i])
		}
	}
	add(f.requires)
	for _, s := range f.Steps() {
		if s.Conditions != nil {
			add(s.Conditions.Requires)
		}
	}
	return all
}
