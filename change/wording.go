package change

import (
	"strings"

	"github.com/guidonhq/guidon/analysis"
)

// Wording is a difference in words.
type Wording struct {
	// Parts name the part that differs, after those that contain it, such as "rule 2" and
	// "segments". There are none if only a text about the difference is known.
	Parts         []string
	Before, After string // the values; both are "" if they are not shown
	What          string // what happened instead, such as "added (50% "blue")" or "moved to 2"
}

// String returns the words as one text, such as "rollout 2: percentage 10 → 50".
func (w Wording) String() string {
	text := w.What
	if w.Before != "" || w.After != "" {
		text = w.Before + " → " + w.After
	}
	if len(w.Parts) == 0 {
		return text
	}
	return joined(w.Parts) + " " + text
}

// joined returns the names of a part and of those that contain it as one.
func joined(parts []string) string { return strings.Join(parts, ": ") }

// wordingFunc returns how a part differs, in words.
type wordingFunc func(v analysis.Vocabulary) Wording

// fixedWording returns the wording that is the same in every vocabulary.
func fixedWording(what string) wordingFunc {
	return func(analysis.Vocabulary) Wording { return Wording{What: what} }
}

// withBrief returns the wording that something happened to a part, which brief describes
// unless it is nil.
func withBrief(what string, brief func(v analysis.Vocabulary) string) wordingFunc {
	if brief == nil {
		return fixedWording(what)
	}
	return func(v analysis.Vocabulary) Wording { return Wording{What: what + inParentheses(brief(v))} }
}

// Wording returns the difference in the words of the vocabulary.
func (d *Difference) Wording(v analysis.Vocabulary) Wording {
	if d.says == nil {
		return Wording{What: d.Summary}
	}
	w := d.says(v)
	w.Parts = d.at.parts(v)
	return w
}

// In returns the summary in the words of the vocabulary.
func (d *Difference) In(v analysis.Vocabulary) string {
	if v == analysis.APIWords {
		return d.Summary
	}
	return d.Wording(v).String()
}
