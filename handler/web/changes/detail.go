package changes

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Limits of what is shown about one object.
const (
	maxCompared    = 1 << 20 // bytes before and after together
	maxDifferences = 100
)

// detail is what a change did to one object.
type detail struct {
	Differences []difference
	More        int // differences that are not listed
	Diff        *diff
	TooLarge    bool
}

// detailOf returns the details of a change. It compares what its record has, so that it
// needs no earlier state.
func detailOf(c *guidonv1.Change) detail {
	r := recordOf(c)
	if len(r.Before)+len(r.After) > maxCompared {
		return detail{TooLarge: true}
	}
	var d detail
	differences, err := r.Differences()
	before, after, documentErr := documentsOf(r)
	if err == nil {
		d.Differences, d.More = recordedDifferences(differences, after)
	}
	if documentErr == nil && (before != nil || after != nil) { // otherwise it has the form of another release
		d.Diff = diffOf(before, after)
	}
	return d
}

// recordOf returns the record in a message.
func recordOf(c *guidonv1.Change) *change.Record {
	return &change.Record{
		Kind: change.Kind(c.GetKind()), Key: c.GetKey(), Action: change.Action(c.GetAction()),
		Before: body(c.GetBefore()), After: body(c.GetAfter()),
	}
}

// body returns the JSON form of an object, or nil if there is none.
func body(object *structpb.Struct) json.RawMessage {
	if object == nil {
		return nil
	}
	text, err := json.Marshal(object.AsMap())
	if err != nil {
		return nil
	}
	return text
}

// diffOf returns the difference of two documents, or nil if there is none.
func diffOf(before, after *service.Document) *diff {
	text, err := document.DiffObjects("before", before, "after", after)
	if err != nil {
		return nil
	}
	return parseDiff(text)
}

// documentsOf returns documents with the object of a record before and after, which are nil
// if it is in no document.
func documentsOf(r *change.Record) (before, after *service.Document, err error) {
	switch r.Kind {
	case change.KindFlag:
		return documents(r, service.FlagDocument)
	case change.KindSegment:
		return documents(r, service.SegmentDocument)
	}
	return nil, nil, nil
}

// documents returns documents with the object before and after.
func documents[T any](r *change.Record, make func(*T) *service.Document) (before, after *service.Document, err error) {
	one := func(text json.RawMessage) *service.Document {
		if text == nil || err != nil {
			return nil
		}
		object := new(T)
		if err = json.Unmarshal(text, object); err != nil {
			return nil
		}
		return make(object)
	}
	before, after = one(r.Before), one(r.After)
	return before, after, err
}

// difference is one difference in words. If Was or Now is set, they are the values, and
// Text is what has them.
type difference struct {
	At   string // the part of the object, such as "rule 2", or ""
	Text string
	Was  string
	Now  string
}

// Changed reports whether the difference has values.
func (d difference) Changed() bool { return d.Was != "" || d.Now != "" }

// maxValue limits the values that are shown, in bytes.
const maxValue = 300

// recordedDifferences returns the differences of a record. after is the document with the
// object after it, or nil.
func recordedDifferences(all []change.Difference, after *service.Document) (shown []difference, more int) {
	variant := func(rule, share int) string {
		if after == nil || len(after.Flags) == 0 || rule >= len(after.Flags[0].Rules) {
			return ""
		}
		shares := after.Flags[0].Rules[rule].Distributions
		if share >= len(shares) {
			return ""
		}
		return shares[share].Variant
	}
	for _, d := range all[:min(len(all), maxDifferences)] {
		shown = append(shown, newDifference(d.Summary, string(d.Op), d.Before, d.After).named(d.Path, variant))
	}
	return shown, len(all) - len(shown)
}

// plannedDifferences returns the differences of a change in a plan.
func plannedDifferences(c *guidonv1.PlannedChange) (shown []difference, more int) {
	variant := func(rule, share int) string {
		for _, f := range c.GetAfter().GetFlags() {
			if rule < len(f.GetRules()) && share < len(f.GetRules()[rule].GetDistributions()) {
				return f.GetRules()[rule].GetDistributions()[share].GetVariant()
			}
		}
		return ""
	}
	all := c.GetDifferences()
	for _, d := range all[:min(len(all), maxDifferences)] {
		shown = append(shown, newDifference(d.GetSummary(), d.GetOp(), valueText(d.GetBefore()), valueText(d.GetAfter())).named(d.GetPath(), variant))
	}
	return shown, len(all) - len(shown)
}

// sharePath matches the paths of shares.
var sharePath = regexp.MustCompile(`^rules\[(\d+)\]\.distributions\[(\d+)\]\.rollout$`)

// named returns the difference of a share with the name of its variant instead of a number.
func (d difference) named(path string, variant func(rule, share int) string) difference {
	match := sharePath.FindStringSubmatch(path)
	if match == nil || d.Was == "" {
		return d
	}
	rule, err1 := strconv.Atoi(match[1])
	share, err2 := strconv.Atoi(match[2])
	if err1 != nil || err2 != nil {
		return d
	}
	if name := page.Printable(variant(rule, share), maxShownName); name != "" {
		d.Text = name
	}
	return d
}

// newDifference splits the summary of a difference, such as "rule 2: percentage 10 → 50",
// into the part, what changed in it, and the values.
func newDifference(summary, op string, before, after json.RawMessage) difference {
	d := difference{Text: page.Printable(summary, maxMessage)}
	if at, rest, ok := strings.Cut(d.Text, ": "); ok && len(at) <= maxPlace && !strings.ContainsAny(at, `"“(`) {
		d.At, d.Text = inWords(at), rest
	}
	if op != string(change.OpReplace) || len(before) == 0 || len(after) == 0 {
		return d
	}
	was, now := shortValue(before), shortValue(after)
	label, ok := strings.CutSuffix(d.Text, " "+was+" → "+now)
	if !ok && strings.Contains(d.Text, " → ") {
		return d
	}
	if !ok {
		label = strings.TrimSuffix(d.Text, " changed")
	}
	d.Text, d.Was, d.Now = label, was, now
	if d.Text = inWords(d.Text); percentLabel.MatchString(d.Text) {
		d.Was, d.Now = d.Was+"%", d.Now+"%"
	}
	if d.At == "" && len(d.Text) <= maxPlace {
		d.At, d.Text = d.Text, ""
	}
	d.At = capital(d.At)
	return d
}

// maxPlace limits the names of parts that stand beside what changed in them, in bytes.
const maxPlace = 80

// inWords returns the name of a part in the words of the interface.
func inWords(part string) string { return capitalParts.ReplaceAllStringFunc(part, partWord) }

// capitalParts matches the words of the API at the beginning of a name, and in it.
var capitalParts = regexp.MustCompile(`(^|: )(distribution \d+: rollout|rollout|constraint)`)

// percentLabel matches the names of parts that are in percent.
var percentLabel = regexp.MustCompile(`(^|: )(share \d+|percentage)$`)

func partWord(match string) string {
	word := strings.TrimPrefix(match, ": ")
	head := match[:len(match)-len(word)]
	switch {
	case strings.HasPrefix(word, "distribution "):
		return head + "share " + strings.TrimSuffix(strings.TrimPrefix(word, "distribution "), ": rollout")
	case word == "rollout":
		return head + "step"
	case word == "constraint":
		return head + "condition"
	}
	return match
}

// capital returns the text with a capital letter at the beginning.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// shortValue returns a value as text of a limited length.
func shortValue(value json.RawMessage) string {
	text := page.Printable(string(value), maxValue)
	if len(text) < len(value) && len(value) > maxValue {
		return text + "…"
	}
	return text
}

// valueText returns the JSON form of a value, or nil if there is none.
func valueText(value *structpb.Value) json.RawMessage {
	if value == nil {
		return nil
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // it is shown to people
	if err := encoder.Encode(value.AsInterface()); err != nil {
		return nil
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
