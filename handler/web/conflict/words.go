package conflict

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/valuewords"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

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
			return joined(page.Capital(noun)+joint[noun]+page.Printable(key, valuewords.Max), strings.TrimPrefix(quoted[len(prefix):], ": "))
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
	return page.Capital(page.Printable(name, valuewords.Max))
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
	return joined(name, page.Printable(member, valuewords.Max))
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
		return valuewords.Shortened(of.Conditions[i].GetProperty())
	}
	return valuewords.Shortened(strings.Join(p.SegmentNames(keys), ", "))
}

// joined returns the name of a member of a part.
func joined(name, member string) string {
	if member == "" {
		return name
	}
	return name + ": " + member
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
	c := changedPart{by: by, was: p.Value(d.GetPath(), d.GetBefore()), now: p.Value(d.GetPath(), d.GetAfter())}
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
		return page.Printable(rules[rule].GetDistributions()[index].GetVariant(), valuewords.Max)
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
