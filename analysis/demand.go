package analysis

import (
	"slices"
	"strings"
	"unique"

	"github.com/guidonhq/guidon"
)

// A demand is the outcome that a constraint must have. A negated constraint is its comparison
// with the opposite outcome, see [demand.compared].
type demand struct {
	constraint *guidon.Constraint
	condition  *guidon.CompiledConstraint
	operand    *operand
	match      bool
	content    unique.Handle[string] // of a predicate: equal for constraints that hold for the same entities
}

func newDemand(c *guidon.Constraint, compiled *guidon.CompiledConstraint, match bool) demand {
	o := operandOf(c)
	return demand{constraint: c, condition: compiled, operand: &o, match: match}
}

// compared returns the outcome that the comparison of the constraint must have.
func (d *demand) compared() bool { return d.match != d.constraint.Negate }

// satisfy decides whether some value meets the demands, which are about the same property,
// and returns one. Everything that is said about constraints that imply or exclude each other
// follows from it. It is sound: yes and no are certain. It decides all demands but those of
// a pattern, and those of a number, a time, a version, a list or an address that is also compared
// as something else, within the limits of [examples] and of the work.
func satisfy(list []demand, spend func(units int) bool) (value string, possible truth) {
	x := &sample{examples: examples{work: spend}, demands: list}
	if slices.ContainsFunc(list, demand.fails) {
		return "", no
	}
	if values, finite := x.finite(); finite {
		return x.try(values, no)
	}
	x.collect()
	for _, f := range x.forms() {
		if value, possible = x.try(f(), unknown); possible == yes || x.spent {
			return value, possible
		}
	}
	return "", x.excluded()
}

// forms returns functions for values that may meet the demands.
func (x *sample) forms() (list []func() []string) {
	for _, f := range []struct {
		kind   comparisons
		values func() []string
	}{
		{comparesNumber, x.numberForms}, {comparesTime, func() []string { return x.appendTimes(nil) }},
		{comparesVersion, func() []string { return x.appendVersions(nil) }}, {comparesItems, x.listForms},
		{comparesAddress, func() []string { return x.appendAddresses(nil) }},
	} {
		if x.typed&f.kind != 0 {
			list = append(list, f.values)
		}
	}
	return append(list, x.strings)
}

// families are the comparisons that are decided together. The others of a property may be
// about any value that one of them leaves.
var families = [...]comparisons{
	comparesText, comparesNumber | comparesBoolean | comparesTime, comparesVersion, comparesItems, comparesAddress,
}

// excluded returns no if it is certain that nothing meets the demands, after the values have
// been tried.
func (x *sample) excluded() truth {
	mixed := x.kinds&comparesPattern != 0
	for _, family := range families {
		mixed = mixed || x.typed&family != 0 && x.kinds&^family != 0
	}
	switch {
	case mixed && (x.opposed() || slices.ContainsFunc(families[:], x.contradicts)):
		return no
	case mixed || x.cut:
		return unknown
	}
	return no
}

// sample makes the values that must be tried to decide demands.
type sample struct {
	examples
	demands []demand
	spent   bool // the work is done

	start, end string      // the longest prefix and suffix that are demanded
	contained  []string    // the parts that are demanded
	typed      comparisons // what the value must be that is not any text, such as a number
}

// try returns the first of the values that meets the demands, or else the result for none.
func (x *sample) try(values []string, otherwise truth) (string, truth) {
	if i := slices.IndexFunc(values, x.meets); i >= 0 {
		return values[i], yes
	}
	if x.spent {
		return "", unknown
	}
	return "", otherwise
}

// meets reports whether the value meets all demands.
func (x *sample) meets(value string) bool {
	for i := range x.demands {
		d := &x.demands[i]
		if x.spent = x.spent || !x.work(costOf(d.constraint, value)); x.spent || d.condition.Accepts(value) != d.match {
			return false
		}
	}
	return true
}

// costOf returns the work of comparing the value. Patterns take much more than others.
func costOf(c *guidon.Constraint, value string) int {
	if c.Type == guidon.PatternComparison {
		return 1 + len(value)
	}
	return 1 + len(value)/64
}

// fails reports whether no value meets the demand because of the operand.
func (d demand) fails() bool { return d.compared() && d.operand.problem != NoProblem }

// finite returns all values that can meet the demands, if one of these leaves only a few.
func (x *sample) finite() (values []string, finite bool) {
	for i := range x.demands {
		if left, ok := x.demands[i].leaves(); ok && (!finite || len(left) < len(values)) {
			values, finite = left, true
		}
	}
	return values, finite
}

// leaves returns all values that meet the demand, and perhaps others, if they are few.
func (d *demand) leaves() (values []string, finite bool) {
	switch o := operatorOf(d.constraint); {
	case d.operand.problem != NoProblem:
	case o.truths != nil:
		return o.truths, d.compared()
	case isText(d.constraint) && o.part == comparesWhole && o.negated:
		return append(slices.Clip(d.operand.Texts), ""), !d.compared()
	case isText(d.constraint) && o.part == comparesWhole:
		return d.operand.Texts, d.compared()
	}
	return nil, false
}

// collect collects the values that the demands compare.
func (x *sample) collect() {
	for i := range x.demands {
		d := &x.demands[i]
		x.add(d.constraint, d.operand)
		if operatorOf(d.constraint).presence || d.operand.problem != NoProblem {
			continue
		}
		switch {
		case isText(d.constraint):
			x.collectText(d)
		case d.compared():
			x.typed |= kindOf(d.constraint)
		}
	}
}

func (x *sample) collectText(d *demand) {
	o := operatorOf(d.constraint)
	if d.compared() == o.negated {
		return // the text must be another one
	}
	switch text := d.constraint.Value; o.part {
	case comparesPart:
		x.contained = appendNew(x.contained, text)
	case comparesPrefix:
		if len(text) > len(x.start) {
			x.start = text
		}
	case comparesSuffix:
		if len(text) > len(x.end) {
			x.end = text
		}
	}
}

// numberForms returns numbers, each also in a form that is not a boolean.
func (x *sample) numberForms() (values []string) {
	x.spent = !x.work(len(x.numbers))
	for _, number := range x.appendNumbers(nil) {
		values = append(values, number, "+"+number)
	}
	return values
}

// listForms returns lists of which at least one meets the demands if any list does: of the
// items that no demand excludes, all but one of each list that must not be there as a whole. It
// returns blank items too, which are lists of themselves.
func (x *sample) listForms() []string {
	forms := [][]string{slices.Clone(x.items)}
	values := slices.DeleteFunc(slices.Clone(x.items), func(item string) bool { return strings.TrimSpace(item) != "" })
	for i := range x.demands {
		d := &x.demands[i]
		if kindOf(d.constraint) != comparesItems || d.compared() || d.operand.problem != NoProblem {
			continue
		}
		switch d.constraint.Operator {
		case guidon.OpAnyOf:
			for j := range forms {
				forms[j] = without(forms[j], d.operand.Texts...)
			}
		case guidon.OpAllOf:
			forms = x.incomplete(forms, d.operand.Texts)
		}
	}
	for _, form := range forms {
		values = append(values, listForm(form))
	}
	return values
}

// incomplete returns the lists without one of the items, for each of these.
func (x *sample) incomplete(lists [][]string, items []string) (all [][]string) {
	for _, list := range lists {
		for _, item := range items {
			if x.spent = x.spent || !x.work(1+len(list)); x.spent || len(all) == maxExamples {
				x.cut = true
				return all
			}
			all = append(all, without(list, item))
		}
	}
	return all
}

// without returns the list without some items.
func without(list []string, items ...string) []string {
	left := make(map[string]bool, len(items))
	for _, item := range items {
		left[item] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return left[item] })
}

// strings returns strings of which at least one meets the demands if any does that is just a
// text: neither a number nor a time nor a value of another type.
//
// A text that meets the demands contains all demanded parts of a text, so the shortest text
// that does, with an unused character between the parts, violates none of the others.
func (x *sample) strings() []string {
	filler, space := string(x.unused()), x.unusedSpace()
	text := x.start + filler + strings.Join(x.contained, filler) + filler + x.end
	return []string{"", text, space + strings.Join(x.contained, space) + space}
}

// unusedSpace returns white space that no constraint has.
func (x *sample) unusedSpace() string {
	for _, space := range []string{" ", "\t", "\n", "\r", "\v", "\f"} {
		if !x.has(space) {
			return space
		}
	}
	x.cut = true
	return " "
}

// has reports whether a constraint mentions the text, alone or in another one.
func (x *sample) has(text string) bool {
	for t := range x.texts() {
		if strings.Contains(t, text) {
			return true
		}
	}
	return false
}

func isText(c *guidon.Constraint) bool {
	return c.Type == guidon.StringComparison || c.Type == guidon.EntityIDComparison
}

// contradicts reports whether nothing meets the demands of the family, and those of presence,
// if there are any others.
func (x *sample) contradicts(family comparisons) bool {
	var some []demand
	for _, d := range x.demands {
		if kindOf(d.constraint)&family != 0 || operatorOf(d.constraint).presence {
			some = append(some, d)
		}
	}
	if len(some) == len(x.demands) {
		return false
	}
	_, possible := satisfy(some, x.work)
	return possible == no
}

// opposed reports whether both outcomes of one comparison are demanded.
func (x *sample) opposed() bool {
	for i, a := range x.demands {
		for _, b := range x.demands[i+1:] {
			if a.compared() != b.compared() && comparesAs(a.constraint, b.constraint) {
				return true
			}
		}
	}
	return false
}
