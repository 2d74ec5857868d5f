package change

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of texts in summaries, in bytes.
const (
	maxQuoted  = 40      // a text that is longer is cut if it names something, and left out if it is a value
	maxSummary = 400     // the whole summary
	maxValue   = 2 << 10 // a value of a conflict
)

const changed = "changed"

// transition returns how a value changed, such as "10% → 50%". It leaves out long values.
func transition(before, after any, long bool) Wording {
	was, shortBefore := valueWords(before)
	is, shortAfter := valueWords(after)
	if ramp, is := before.(ramped); is {
		if action := ramp.action(after); action != "" {
			return Wording{What: action}
		}
	}
	switch {
	case after == negation(true):
		return Wording{What: "negated"}
	case after == negation(false):
		return Wording{What: "no longer negated"}
	case !long && shortBefore && shortAfter && was != is:
		return Wording{Before: was, After: is}
	case isEmpty(before):
		return Wording{What: "added"}
	case isEmpty(after):
		return Wording{What: "removed"}
	}
	return Wording{What: changed}
}

// isEmpty reports whether the value is a text without characters.
func isEmpty(value any) bool {
	o, ok := value.(operand)
	return value == "" || value == bareText("") || ok && o.constraint.Value == ""
}

// Values that words show differently from their JSON form.
type (
	percent  float32
	switched bool // on or off
	negation bool
	operator struct{ constraint *guidon.Constraint }
	operand  struct{ constraint *guidon.Constraint }
)

// valueWords returns the value in words, and whether it is short enough to be shown in a
// summary.
func valueWords(value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return nonEmpty(value, analysis.Quoted), len(value) <= maxQuoted
	case guidon.Color:
		return nonEmpty(string(value), bare), len(value) <= maxQuoted
	case bareText:
		return nonEmpty(string(value), bare), len(value) <= maxQuoted
	case percent:
		return analysis.PercentWords(float32(value)), true
	case switched:
		return OnOff(bool(value)), true
	case operator:
		_, words, _ := analysis.ComparisonWords(value.constraint)
		return words, len(value.constraint.Operator) <= maxQuoted
	case operand:
		_, _, words := analysis.ComparisonWords(value.constraint)
		return cmp.Or(words, nothing), len(words) <= 2*maxQuoted
	case ramped:
		text := value.words()
		return text, len(text) <= 3*maxQuoted
	case bool:
		return map[bool]string{false: "no", true: "yes"}[value], true
	case []string:
		text := keyList(value)
		return text, len(text) <= 2*maxQuoted
	case json.RawMessage:
		text := JSONWords(value)
		short := len(text) <= maxQuoted && isPrintable(text)
		if len(value) > 0 && value[0] == '"' {
			text = analysis.Quoted(text)
		}
		return text, short
	case guidon.ComparisonType:
		return cmp.Or(analysis.TypeWords(value), enumWords(value.String())), true
	case fmt.Stringer:
		return cmp.Or(enums[value], enumWords(value.String())), true
	}
	return fmt.Sprint(value), true
}

// JSONWords returns a JSON value for people: a text as it is, and lists and objects without
// brackets, unless they are large.
func JSONWords(value json.RawMessage) string {
	var text string
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	if len(value) > maxValue {
		return string(value)
	}
	var words []string
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		words = lists.Map(list, JSONWords)
	} else if members, ok := properties(value); ok {
		for _, p := range members {
			words = append(words, p.name+": "+JSONWords(p.value))
		}
	}
	return cmp.Or(strings.Join(words, ", "), string(value))
}

// wholeWords returns the value in words, whatever its length, with texts as they are.
func wholeWords(value any) string {
	if text, ok := value.(string); ok {
		return cmp.Or(text, nothing)
	}
	words, _ := valueWords(value)
	return words
}

// nothing stands for an empty text.
const nothing = "nothing"

// nonEmpty returns the text in the given form, or says that it is empty.
func nonEmpty(text string, form func(string) string) string {
	if text == "" {
		return nothing
	}
	return form(text)
}

// OnOff returns the word for a state, a default value or a result (contract 1.7).
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// enums are the values of enums whose names on the wire are not good words.
var enums = map[fmt.Stringer]string{guidon.OrSegments: "any", guidon.AndSegments: "all"}

// enumWords returns the wire name of an enum's value in words: without the name of the
// enum.
func enumWords(name string) string {
	for _, suffix := range []string{"_FLAG_TYPE", "_MATCH_TYPE", "_SEGMENT_OPERATOR", "_COMPARISON_TYPE"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.ToLower(strings.ReplaceAll(name, "_", " "))
}

// quote returns the key or name in quotes, cut if it is long.
func quote(text string) string { return analysis.Quoted(guidon.Shorten(text, maxQuoted)) }

// bare returns the text as it is, or in quotes if that could be misread.
func bare(text string) string {
	text = guidon.Shorten(text, maxQuoted)
	if text == "" || !isPrintable(text) {
		return analysis.Quoted(text)
	}
	return text
}

// isPrintable reports whether the text is safe to show: control characters could change how
// a terminal or a page shows the text around it.
func isPrintable(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) && utf8.ValidString(text)
}

// keyList returns the keys, separated by commas.
func keyList(keys []string) string {
	if len(keys) == 0 {
		return "none"
	}
	return strings.Join(lists.Map(keys, bare), ", ")
}

func inParentheses(brief string) string {
	if brief == "" {
		return ""
	}
	return " (" + brief + ")"
}

// Summarize returns the differences in words, separated by semicolons, in at most 400 bytes. It
// says how many differences it leaves out.
func Summarize(differences []Difference) string {
	const separator = "; "
	rest := func(n int) string { return fmt.Sprintf("%s%d more", separator, n) }
	var out strings.Builder
	for i, d := range differences {
		left := len(differences) - i
		text := guidon.Shorten(d.Summary, maxSummary/2)
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

// Summary returns the change of the object in words, in at most 400 bytes. It needs the differences.
func (c *Compared[T]) Summary() string { return summary(c.Action(), c.Differences) }

func summary(a Action, differences []Difference) string {
	switch {
	case a == ActionCreate:
		return "created"
	case a == ActionDelete:
		return "deleted"
	case len(differences) == 0:
		return "no change of content"
	}
	return Summarize(differences)
}

// briefFunc describes a part of an object, which belongs to the flag f, in words, such as one
// that is added or removed.
type briefFunc[T any] func(f *guidon.Flag, t *T) string

// noBrief is the briefFunc of parts that have no words.
func noBrief[T any](*guidon.Flag, *T) string { return "" }

// RuleWords returns the rule with the index in words, without its times.
func RuleWords(f *guidon.Flag, index int) string {
	if f.Type == guidon.BooleanFlag {
		r := *f.Rollouts[index]
		r.Conditions = timeless(r.Conditions)
		return briefRollout(f, &r)
	}
	r := *f.Rules[index]
	r.Conditions = timeless(r.Conditions)
	return briefRule(f, &r)
}

func timeless(c *guidon.Conditions) *guidon.Conditions {
	copied := *c.Stated()
	copied.From, copied.Until = time.Time{}, time.Time{}
	return &copied
}

func briefRule(f *guidon.Flag, r *guidon.Rule) string {
	text := targetWords(r.SegmentKeys, r.Stated())
	if r.CodeDefault {
		return text + ", the default in the code"
	}
	for i, d := range r.Distributions {
		if i == 3 {
			return text + ", …"
		}
		text += ", " + briefShare(f, d)
	}
	return text
}

func briefShare(f *guidon.Flag, d *guidon.Distribution) string {
	return analysis.PercentWords(d.Rollout) + " " + quote(reference(f, d.VariantID))
}

func briefRollout(_ *guidon.Flag, r *guidon.Rollout) string {
	switch {
	case r.Segment != nil:
		return targetWords(r.Segment.SegmentKeys, r.Stated()) + ": " + OnOff(r.Segment.Value)
	case r.Threshold != nil:
		return thresholdWords(r.Threshold) + timesWords(r.Stated()) + ": " + OnOff(r.Threshold.Value)
	}
	return ""
}

func briefConstraint(_ *guidon.Flag, c *guidon.Constraint) string {
	return analysis.DescribeConstraint(c)
}
