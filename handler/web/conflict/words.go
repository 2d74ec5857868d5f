package conflict

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxValue limits the values that are shown, in bytes.
const maxValue = 2 << 10

// shortened returns the text for people, and only its beginning if it is long.
func shortened(text string) string {
	if shown := page.Printable(text, maxValue); len(text) <= maxValue {
		return shown
	} else {
		return shown + "…"
	}
}

// numbered matches the names of parts that have a number, and what is in them.
var numbered = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(rule|rollout|constraint) (\d+)(?:: (.*))?$`)
})

// nouns are what pages call the parts of objects.
var nouns = map[string]string{"rule": "Rule", "rollout": "Step", "constraint": "Condition"}

// members are what pages call the members of parts that the API calls otherwise.
var members = map[string]string{
	"distributions": "shares", "operator": "any or all of the segments", "percentage": "share", "description": "note",
	"condition": "comparison", "type": "kind", "rank": "rank",
}

// wholes are what pages call what is not in a part with a number.
var wholes = map[string]string{
	"order of rollouts": "Order of the steps", "order of rules": "Order of the rules", "order of constraints": "Order of the conditions",
	"order of variants": "Order of the variants", "match type": "How the conditions combine",
}

// share matches the names of single shares.
var share = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^distribution (\d+)(: rollout)?$`)
})

// partName returns what pages call the part with a name of the API, such as "rule 2: segments".
// The numbers are those of the lists.
func (p *Page) partName(name string, of Parts) string {
	if match := numbered().FindStringSubmatch(name); match != nil {
		return p.numberedName(match[1], match[2], match[3], of)
	}
	for _, noun := range []string{"metadata", "variant"} {
		quoted, ok := strings.CutPrefix(name, noun+" ")
		if !ok {
			continue
		}
		if prefix, err := strconv.QuotedPrefix(quoted); err == nil {
			key, _ := strconv.Unquote(prefix)
			return joined(page.Capital(noun)+joint[noun]+page.Printable(key, maxValue), strings.TrimPrefix(quoted[len(prefix):], ": "))
		}
	}
	switch {
	case name == "everything":
		return "The whole " + p.Noun
	case name == "enabled" && p.Boolean:
		return "Everyone else"
	case name == "enabled":
		return "State"
	case wholes[name] != "":
		return wholes[name]
	}
	return page.Capital(page.Printable(name, maxValue))
}

// joint is what stands between a noun and a key.
var joint = map[string]string{"metadata": ", ", "variant": " "}

func (p *Page) numberedName(noun, number, member string, of Parts) string {
	name := nouns[noun] + " " + number
	if about := p.about(noun, number, of); about != "" {
		name += ", " + about
	}
	if match := share().FindStringSubmatch(member); match != nil {
		return joined(name, "share "+match[1])
	}
	if noun == "rollout" && member == "value" {
		return joined(name, "result")
	}
	if word := members[member]; word != "" {
		member = word
	}
	return joined(name, page.Printable(member, maxValue))
}

// Parts are the lists of a flag or segment.
type Parts struct {
	Rules      []*guidonv1.DocumentRule
	Rollouts   []*guidonv1.DocumentRollout
	Conditions []*guidonv1.DocumentConstraint
}

// FlagParts returns the lists of a flag.
func FlagParts(f *guidonv1.DocumentFlag) Parts {
	return Parts{Rules: f.GetRules(), Rollouts: f.GetRollouts()}
}

// SegmentParts returns the lists of a segment.
func SegmentParts(g *guidonv1.DocumentSegment) Parts { return Parts{Conditions: g.GetConstraints()} }

// about returns who the rule or step with the number is for, or which property a condition is
// about; "" if that is not known.
func (p *Page) about(noun, number string, of Parts) string {
	n, err := strconv.Atoi(number)
	var keys []string
	switch i := n - 1; {
	case err != nil || i < 0:
	case noun == "rule" && i < len(of.Rules):
		keys = of.Rules[i].GetSegmentKeys()
	case noun == "rollout" && i < len(of.Rollouts):
		keys = of.Rollouts[i].GetSegment().GetSegmentKeys()
	case noun == "constraint" && i < len(of.Conditions):
		return shortened(of.Conditions[i].GetProperty())
	}
	return shortened(strings.Join(p.named("segmentKeys", keys), ", "))
}

// joined returns the name of a member of a part.
func joined(name, member string) string {
	if member == "" {
		return name
	}
	return name + ": " + member
}

// member returns the last member of a path, such as "rollout".
func member(path string) string {
	if i := strings.LastIndexByte(path, '.'); i >= 0 && !strings.HasSuffix(path, `"]`) {
		return path[i+1:]
	}
	return path
}

// enums are values of the API in words.
var enums = map[string]string{
	"OR_SEGMENT_OPERATOR": "in any of them", "AND_SEGMENT_OPERATOR": "in all of them",
	"ALL_MATCH_TYPE": "All of them match", "ANY_MATCH_TYPE": "Any of them matches",
	"VARIANT_FLAG_TYPE": "Variant", "BOOLEAN_FLAG_TYPE": "Boolean",
	"STRING_COMPARISON_TYPE": "Text", "NUMBER_COMPARISON_TYPE": "Number", "BOOLEAN_COMPARISON_TYPE": "Yes or no",
	"DATETIME_COMPARISON_TYPE": "Date", "ENTITY_ID_COMPARISON_TYPE": "Entity",
}

// value returns a value of the part with a path in words; "" if there is none.
func (p *Page) value(path string, value *structpb.Value) string {
	at := member(path)
	switch kind := value.GetKind().(type) {
	case nil:
		return ""
	case *structpb.Value_BoolValue:
		if at == "enabled" || at == "value" {
			return onOff(kind.BoolValue)
		}
	case *structpb.Value_NumberValue:
		if at == "rollout" || at == "percentage" {
			return page.Percent(kind.NumberValue)
		}
	case *structpb.Value_StringValue:
		if word := enums[kind.StringValue]; word != "" && at != "description" && at != "name" {
			return word
		}
		return shortened(kind.StringValue)
	case *structpb.Value_ListValue:
		if texts, ok := textsOf(kind.ListValue); ok {
			return shortened(strings.Join(p.named(at, texts), ", "))
		}
	case *structpb.Value_StructValue:
		if text := p.object(kind.StructValue.GetFields()); text != "" {
			return shortened(text)
		}
	}
	text, err := json.Marshal(value.AsInterface())
	if err != nil {
		return ""
	}
	return shortened(string(text))
}

func onOff(on bool) string {
	if on {
		return "On"
	}
	return "Off"
}

func textsOf(list *structpb.ListValue) (texts []string, ok bool) {
	for _, v := range list.GetValues() {
		if _, text := v.GetKind().(*structpb.Value_StringValue); !text {
			return nil, false
		}
		texts = append(texts, v.GetStringValue())
	}
	return texts, true
}

// named returns the names of segments with the keys, if the texts are such.
func (p *Page) named(member string, texts []string) []string {
	if member != "segmentKeys" || p.Segment == nil {
		return texts
	}
	names := make([]string, len(texts))
	for i, key := range texts {
		names[i] = p.Segment(key)
	}
	return names
}

// object returns a rule, a step, a condition or a variant in words; "" if it is something else.
func (p *Page) object(fields map[string]*structpb.Value) string {
	switch {
	case fields["segmentKeys"] != nil:
		text := p.value("segmentKeys", fields["segmentKeys"])
		if shares := sharesOf(fields["distributions"], p.Variants); len(shares) > 0 {
			return text + ": " + sharesText(shares)
		}
		if fields["value"] != nil {
			return text + ": " + onOff(fields["value"].GetBoolValue())
		}
		return text
	case fields["segment"] != nil:
		return p.value("segment", fields["segment"])
	case fields["threshold"] != nil:
		t := fields["threshold"].GetStructValue().GetFields()
		return page.Percent(t["percentage"].GetNumberValue()) + " of everyone: " + onOff(t["value"].GetBoolValue())
	case fields["operator"] != nil:
		words := []string{fields["property"].GetStringValue(), fields["operator"].GetStringValue(), fields["value"].GetStringValue()}
		return strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	}
	return ""
}

// sharesOf returns the shares in a list of the API, or nil.
func sharesOf(list *structpb.Value, variants []string) (shares []part.Share) {
	for _, v := range list.GetListValue().GetValues() {
		key, percent := v.GetStructValue().GetFields()["variant"].GetStringValue(), v.GetStructValue().GetFields()["rollout"].GetNumberValue()
		color := -1
		for i, variant := range variants {
			if variant == key {
				color = i
			}
		}
		shares = append(shares, part.Share{Name: page.Printable(key, maxValue), Color: part.VariantColor(color), Percent: percent, Text: page.Percent(percent)})
	}
	return shares
}

func sharesText(shares []part.Share) string {
	words := make([]string, len(shares))
	for i, s := range shares {
		words[i] = s.Name + " " + s.Text
	}
	return strings.Join(words, ", ")
}

// changedPart is a part that one side alone has changed.
type changedPart struct{ what, was, now, by string }

// changedParts returns the differences of one side in words.
func (p *Page) changedParts(all []*guidonv1.FieldDifference, by string) (parts []changedPart) {
	for _, d := range all {
		parts = append(parts, p.changedPart(d, by))
	}
	return parts
}

func (p *Page) changedPart(d *guidonv1.FieldDifference, by string) changedPart {
	c := changedPart{by: by, was: p.value(d.GetPath(), d.GetBefore()), now: p.value(d.GetPath(), d.GetAfter())}
	label, of := d.GetSummary(), p.Result // whose paths it has, as long as there are no conflicts
	if len(p.Details.GetConflicts()) > 0 {
		of = Parts{}
	}
	switch change.Op(d.GetOp()) {
	case change.OpAdd:
		label, c.now = cutWord(label, " added", c.now)
		c.was = ""
	case change.OpRemove:
		label, _ = cutWord(label, " removed", "")
		c.now, of = "Removed", Parts{}
	case change.OpMove:
		var to string
		label, to, _ = strings.Cut(label, " moved to ")
		c.now, of = "Moved to place "+to, Parts{}
	default:
		label = valueLabel(label)
	}
	if d.GetPath() == change.Whole {
		c.what, c.now = "The whole "+p.Noun, page.Capital(d.GetSummary())
		return c
	}
	c.what = p.partName(label, of)
	if variant := variantOf(of, d.GetPath()); variant != "" {
		at, _, _ := strings.Cut(c.what, ": ")
		c.what = joined(at, variant)
	}
	return c
}

// sharePath matches the paths of shares.
var sharePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^rules\[(\d+)\]\.distributions\[(\d+)\]\.rollout$`)
})

// variantOf returns the variant of the share with a path of the lists, or "".
func variantOf(of Parts, path string) string {
	match := sharePath().FindStringSubmatch(path)
	if match == nil {
		return ""
	}
	rule, _ := strconv.Atoi(match[1]) // fits: it is an index
	index, _ := strconv.Atoi(match[2])
	if rules := of.Rules; rule < len(rules) && index < len(rules[rule].GetDistributions()) {
		return page.Printable(rules[rule].GetDistributions()[index].GetVariant(), maxValue)
	}
	return ""
}

// cutWord returns the name before a word of a summary, and the value or, if that is not known,
// what the summary says in its place.
func cutWord(summary, word, value string) (name, text string) {
	name, _, _ = strings.Cut(summary, word)
	if value == "" {
		value = page.Capital(strings.TrimSpace(word))
	}
	return name, value
}

// transitions match what a summary says after the name of the part.
var transition = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?s)((?:(?:metadata|variant) "(?:[^"\\]|\\.)*"|[a-z]+(?: of [a-z]+| \d+)?)(?:: (?:distribution \d+: )?[a-z ]+?)??) (?:changed|added|removed|\S.* → .*)$`)
})

// valueLabel returns the name of the part in the summary of another value.
func valueLabel(summary string) string {
	for _, name := range plainNames {
		if strings.HasPrefix(summary, name+" ") {
			return name
		}
	}
	if match := transition().FindStringSubmatch(summary); match != nil {
		return match[1]
	}
	return summary
}

// plainNames are names of parts with several words.
var plainNames = []string{"match type", "default variant"}
