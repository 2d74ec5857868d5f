package review

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// What the errors of the API about documents have, and pages say in other words.
var (
	notUnique   = regexp.MustCompile(`^(flag|segment) "(.*)" is not unique$`)
	pathStep    = regexp.MustCompile(`\b(\w+)s\[(\d+)\](?: "((?:[^"\\]|\\.)*)")?`)
	badField    = regexp.MustCompile(`invalid field (?:[\w.]+\.)?(\w+): `)
	refusedKeys = strings.NewReplacer("contains invalid characters", "may only have letters, digits, - and _")
)

// stepWords are the parts of a document whose names are other words on pages, as are fields.
var stepWords = map[string]string{
	"rollout": "rule", "distribution": "share", "percentage": "share", "keys": "segments", "segmentKeys": "segments", "segmentKey": "segment",
}

// ProblemText returns a problem of a document in words of the pages: parts of lists have the
// key or the number that people see.
func ProblemText(text string) string {
	text = notUnique.ReplaceAllString(text, "The $1 exists already: $2")
	text = pathStep.ReplaceAllStringFunc(text, func(step string) string {
		found := pathStep.FindStringSubmatch(step)
		if found[3] != "" {
			return wordOf(found[1]) + " “" + found[3] + "”"
		}
		n, _ := strconv.Atoi(found[2])
		return wordOf(found[1]) + " " + page.Number(n+1)
	})
	text = badField.ReplaceAllStringFunc(text, func(field string) string {
		return wordOf(badField.FindStringSubmatch(field)[1]) + " "
	})
	return page.Capital(refusedKeys.Replace(text))
}

func wordOf(name string) string {
	return cmp.Or(stepWords[name], name)
}
