package change

import "strings"

// Wording is a difference in words.
type Wording struct {
	// Parts name the part that differs, after those that contain it, such as "rule 2" and
	// "segments". There are none for the object itself.
	Parts         []string
	Before, After string // the values; both are "" if they are not shown
	What          string // what happened instead, such as "added (50%: on)" or "moved to 2"
}

// String returns the words as one text, such as "rule 2: share 10% → 50%".
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
