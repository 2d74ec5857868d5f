package change

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

// Limits of texts in summaries, in bytes.
const (
	maxQuoted  = 40  // a text that is longer is cut if it names something, and left out if it is a value
	maxSummary = 400 // the whole summary
)

const changed = "changed"

// transition returns how a value changed, such as "10 → 50". It leaves out long values.
func transition(before, after any, long bool) string {
	was, shortBefore := phrase(before)
	is, shortAfter := phrase(after)
	switch {
	case !long && shortBefore && shortAfter && was != is:
		return was + " → " + is
	case before == "":
		return "added"
	case after == "":
		return "removed"
	}
	return changed
}

// phrase returns the value in words, and whether it is short enough to be shown.
func phrase(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return quoted(value), len(value) <= maxQuoted
	case guidon.Color:
		return bare(string(value)), len(value) <= maxQuoted
	case bareText:
		return bare(string(value)), len(value) <= maxQuoted
	case []string:
		text := keyList(value)
		return text, len(text) <= 2*maxQuoted
	case json.RawMessage:
		return string(value), len(value) <= maxQuoted && isPrintable(string(value))
	case fmt.Stringer:
		return enumWords(value.String()), true
	}
	return fmt.Sprint(value), true
}

// enumWords returns the wire name of an enum's value in words: without the name of the
// enum.
func enumWords(name string) string {
	for _, suffix := range []string{"_FLAG_TYPE", "_MATCH_TYPE", "_SEGMENT_OPERATOR", "_COMPARISON_TYPE"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", " "))
}

func quoted(text string) string { return strconv.Quote(text) }

// quote returns the key or name in quotes, cut if it is long.
func quote(text string) string { return quoted(cut(text, maxQuoted)) }

// bare returns the text as it is, or in quotes if that could be misread.
func bare(text string) string {
	text = cut(text, maxQuoted)
	if text == "" || !isPrintable(text) {
		return quoted(text)
	}
	return text
}

// isPrintable reports whether the text is safe to show: control characters could
// change what a terminal or a page shows around it.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) && utf8.ValidString(text)
}

// keyList returns the keys, separated by commas.
func keyList(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	words := make([]string, len(keys))
	for i, key := range keys {
		words[i] = bare(key)
	}
	return strings.Join(words, ", ")
}

// cut returns the text, or its beginning and "…" if it is longer than limit bytes.
func cut(text string, limit int) string {
	const more = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + more
}

func inParentheses(brief string) string {
	if brief == "" {
		return ""
	}
	return " (" + brief + ")"
}

// Summarize returns the differences in words, separated by semicolons, in at most 400
// bytes. It says how many differences it leaves out.
func Summarize(differences []Difference) string {
	const separator = "; "
	rest := func(n int) string { return fmt.Sprintf("%s%d more", separator, n) }
	var out strings.Builder
	for i, d := range differences {
		left := len(differences) - i
		text := cut(d.Summary, maxSummary/2)
		if i > 0 {
			text = separator + text
		}
		space := maxSummary - out.Len()
		if left > 1 {
			space -= len(rest(left - 1))
		}
		if len(text) > space {
			out.WriteString(rest(left))
			break
		}
		out.WriteString(text)
	}
	return out.String()
}

// Summary returns the change of the object in words, in at most 400 bytes.
func (c *Compared[T]) Summary() string {
	switch c.Action() {
	case ActionCreate:
		return "created"
	case ActionDelete:
		return "deleted"
	default:
		return Summarize(c.Differences)
	}
}

// Summary returns the comparison in words, in numbers of objects.
func (c *Comparison) Summary() string {
	if c.Empty() {
		return "no differences"
	}
	var parts []string
	if c.Namespace != nil {
		parts = append(parts, "namespace: "+c.Namespace.Summary())
	}
	parts = append(parts, countWords("segments", c.Segments)...)
	parts = append(parts, countWords("flags", c.Flags)...)
	return strings.Join(parts, "; ")
}

// Counts is how many objects differ.
type Counts struct {
	Created int `json:"created"`
	Updated int `json:"updated"`
	Deleted int `json:"deleted"`
}

// Count returns how many of the objects are created, updated and deleted.
func Count[T any](objects []Compared[T]) (n Counts) {
	for i := range objects {
		switch objects[i].Action() {
		case ActionCreate:
			n.Created++
		case ActionDelete:
			n.Deleted++
		default:
			n.Updated++
		}
	}
	return n
}

func countWords[T any](kind string, objects []Compared[T]) []string {
	n := Count(objects)
	var parts []string
	for _, count := range []struct {
		n    int
		verb string
	}{{n.Created, "created"}, {n.Updated, "updated"}, {n.Deleted, "deleted"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.verb))
		}
	}
	if parts == nil {
		return nil
	}
	return []string{kind + ": " + strings.Join(parts, ", ")}
}

// What an item of a list is, in words, for those that are added or removed.

func briefRule(f *guidon.Flag, r *guidon.Rule) string {
	text := "segments " + cut(keyList(r.SegmentKeys), 2*maxQuoted)
	for i, d := range r.Distributions {
		if i == 3 {
			return text + ", …"
		}
		text += ", " + briefDistribution(f, d)
	}
	return text
}

func briefDistribution(f *guidon.Flag, d *guidon.Distribution) string {
	return fmt.Sprintf("%v%% %s", d.Rollout, quote(reference(f, d.VariantID)))
}

func briefRollout(_ *guidon.Flag, r *guidon.Rollout) string {
	switch {
	case r.Segment != nil:
		return fmt.Sprintf("segments %s: %t", cut(keyList(r.Segment.SegmentKeys), 2*maxQuoted), r.Segment.Value)
	case r.Threshold != nil:
		return fmt.Sprintf("%v%%: %t", r.Threshold.Percentage, r.Threshold.Value)
	}
	return ""
}

func briefConstraint(_ *guidon.Flag, c *guidon.Constraint) string {
	text := bare(c.Property) + " " + bare(c.Operator)
	if c.Value == "" {
		return text
	}
	return text + " " + quote(c.Value)
}
