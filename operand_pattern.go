package guidon

import (
	"errors"
	"regexp"
	"regexp/syntax"
)

// Limits of patterns. A property that is longer does not match.
const (
	MaxPatternSize         = 512      // bytes
	MaxPatternInstructions = 2000     // of the compiled program
	MaxPatternProperty     = 4 * 1024 // bytes
)

// ErrPatternTooComplex is the error of a pattern that exceeds a limit.
var ErrPatternTooComplex = errors.New("the pattern is too complex")

// CompilePattern compiles a pattern of RE2. It returns ErrPatternTooComplex, or the error of
// package regexp.
func CompilePattern(text string) (*regexp.Regexp, error) {
	if len(text) > MaxPatternSize {
		return nil, ErrPatternTooComplex
	}
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, err
	}
	if len(program.Inst) > MaxPatternInstructions {
		return nil, ErrPatternTooComplex
	}
	return regexp.Compile(text)
}

func matchesPattern(pattern *regexp.Regexp) matcher {
	return func(value string) bool { return len(value) <= MaxPatternProperty && pattern.MatchString(value) }
}
