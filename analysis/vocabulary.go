package analysis

import "github.com/guidonhq/guidon"

// Vocabulary is the words in which texts speak of the parts of flags and segments.
type Vocabulary uint8

// Vocabularies.
const (
	APIWords  Vocabulary = iota // those of the API: rollout, distribution, constraint, true
	PageWords                   // those of the web interface: step, share, condition, on
)

// Pick returns the one of two texts that is in the words of the vocabulary.
func (v Vocabulary) Pick(api, page string) string {
	if v == PageWords {
		return page
	}
	return api
}

// step returns the word for a rule or rollout of a flag of the type.
func (v Vocabulary) step(t guidon.FlagType) string {
	if t == guidon.BooleanFlag {
		return v.Pick("rollout", "step")
	}
	return "rule"
}
