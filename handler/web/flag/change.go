package flag

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// difference is one unsaved change in words: "Rule 3", "share", "12.5%", "25%". Was and now
// are empty if the text says everything.
type difference struct {
	at, text, was, now string
	share              bool // it is one of the shares of a rule
}

// String returns the difference in one line.
func (d difference) String() string {
	line := d.at
	if d.text != "" {
		line += ": " + d.text
	}
	if d.was != "" || d.now != "" {
		line += " " + cmp.Or(d.was, "nothing") + " → " + cmp.Or(d.now, "nothing")
	}
	return line
}

// differences returns the differences from the state that the visitor began with.
func (d *draft) differences(g segments) (all []difference) {
	kept := make(map[int]bool)
	var order []int
	for i, s := range d.rules {
		was, ok := d.before(s)
		if !ok || kept[s.was] {
			all = append(all, difference{at: d.label(i), text: "new: " + d.sentence(s, g)})
			continue
		}
		kept[s.was] = true
		order = append(order, s.was)
		all = append(all, d.unit(i, was, s, g)...)
	}
	began := newDraft(d.base)
	for i, s := range began.rules {
		if !kept[i] {
			all = append(all, difference{at: d.label(i), text: "removed: " + d.sentence(s, g)})
		}
	}
	if !slices.IsSorted(order) {
		all = append(all, difference{at: "Order", text: "the rules are in another order"})
	}
	if began.other != d.other {
		all = append(all, difference{at: d.defaultLabel(), was: d.outcomeName(began.other), now: d.outcomeName(d.other)})
	}
	return all
}

// label returns the label of a rule, such as "Rule 3".
func (d *draft) label(i int) string { return "Rule " + strconv.Itoa(i+1) }

// defaultLabel returns the label of the result if no rule decides.
func (d *draft) defaultLabel() string {
	if d.boolean {
		return "Default value"
	}
	return "Default variant"
}

// unit returns the differences of a rule that existed, in which its shares count as one.
func (d *draft) unit(i int, was, s rule, g segments) []difference {
	all := d.ruleDifferences(i, was, s, g)
	if d.boolean || d.shareWords(was) == d.shareWords(s) {
		return all
	}
	all = slices.DeleteFunc(all, func(c difference) bool { return c.share })
	return append(all, difference{at: d.label(i), text: "shares", was: d.shareWords(was), now: d.shareWords(s)})
}

// shareWords returns the shares of a rule.
func (d *draft) shareWords(s rule) string {
	var parts []string
	for _, p := range s.given() {
		parts = append(parts, d.base.GetVariants()[p.variant].GetKey()+" "+percentText(p.text))
	}
	return strings.Join(parts, ", ")
}

// ruleDifferences returns the differences of a rule that existed.
func (d *draft) ruleDifferences(i int, was, s rule, g segments) (all []difference) {
	add := func(text, before, after string) {
		if before != after {
			all = append(all, difference{at: d.label(i), text: text, was: before, now: after})
		}
	}
	add("segments", was.who(g), s.who(g))
	if s.kind == kindShare {
		add("share", percentText(was.share), percentText(s.share))
	}
	if d.boolean {
		add("result", d.outcomeName(onOff(was.value)), d.outcomeName(onOff(s.value)))
	}
	add("note", was.note, s.note)
	for v, variant := range d.base.GetVariants() {
		if before, after := percentText(was.shareOf(v)), percentText(s.shareOf(v)); before != after {
			all = append(all, difference{at: d.label(i), text: variant.GetKey(), was: before, now: after, share: true})
		}
	}
	return all
}

// percentText returns a typed share, for people.
func percentText(text string) string {
	text = strings.TrimSuffix(strings.TrimSpace(text), "%")
	if text == "" {
		return ""
	}
	return text + "%"
}

// who returns who a rule is for, or "" for a share.
func (s rule) who(g segments) string {
	if s.kind == kindShare {
		return ""
	}
	names := make([]string, len(s.segments))
	for i, key := range s.segments {
		names[i] = g.of(key).name
	}
	joint := " or "
	if s.all {
		joint = " and "
	}
	if len(names) > 5 {
		return strings.Join(names[:5], joint) + joint + page.Count(len(names)-5, "other")
	}
	return strings.Join(names, joint)
}

// sentence describes the entities of a rule and their results.
func (d *draft) sentence(s rule, g segments) string {
	who := "those in " + cmp.Or(s.who(g), "no segment")
	if s.kind == kindShare {
		who = percentText(s.share) + " of everyone who gets here"
	}
	if d.boolean {
		return who + " get " + d.outcomeName(onOff(s.value))
	}
	return who + " get " + cmp.Or(d.shareWords(s), "no variant of their own")
}

// outcomeName returns the name of on or off, or the key of a variant.
func (d *draft) outcomeName(outcome string) string {
	switch {
	case d.boolean && outcome == "on":
		return "On"
	case d.boolean:
		return "Off"
	}
	return cmp.Or(outcome, "no variant")
}

// maxDifferences limits the differences that a page lists.
const maxDifferences = 100

func orNothing(text string) string {
	beginning, all := inline(cmp.Or(text, "nothing"))
	if !all {
		return beginning + "…"
	}
	return beginning
}
