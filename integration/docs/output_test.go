//go:build linux

package docs

import (
	"regexp"
	"strings"
)

// words are the pieces of an output that must be equal: white space between them makes no
// difference, so that pages may wrap and align it.
var words = regexp.MustCompile(`…|[A-Za-z0-9_]+|\S`)

// shows reports whether the block shows something that was printed. An ellipsis in the block
// stands for any text.
func shows(printed, block string) bool {
	pattern := strings.Builder{}
	for i, word := range words.FindAllString(block, -1) {
		switch {
		case word == "…":
			pattern.WriteString(`(?s:.*?)`)
			continue
		case i > 0:
			pattern.WriteString(`\s*`)
		}
		pattern.WriteString(edge(word, `^\w`) + regexp.QuoteMeta(word) + edge(word, `\w$`))
	}
	return regexp.MustCompile(pattern.String()).MatchString(printed)
}

// edge returns what keeps a word from being found within a longer one.
func edge(word, class string) string {
	if regexp.MustCompile(class).MatchString(word) {
		return `\b`
	}
	return ""
}

// brief returns an output as messages of failures show it.
func brief(printed string) string {
	const most = 3000
	if len(printed) <= most {
		return printed
	}
	return printed[:most] + "… (more)"
}
