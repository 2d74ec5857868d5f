package config

import (
	"fmt"

	"github.com/guidonhq/guidon/internal/suggest"
)

// didYouMean returns a hint with the candidate that text most likely misspells, or "".
func didYouMean(text string, candidates []string) string {
	best := suggest.Closest(text, candidates)
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", best)
}
