package analysis

import (
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
)

// A demand is the outcome that a constraint must have.
type demand struct {
	constraint *guidon.Constraint
	condition  *guidon.CompiledConstraint
	operand    *operand
	match      bool
}

func newDemand(c *guidon.Constraint, compiled *guidon.CompiledConstraint, match bool) demand {
	o := operandOf(c)
	return demand{c, compiled, &o, match}
}

// satisfy decides whether some value meets the demands, which are about the same property,
// and returns one. Everything that is said about constraints that imply or exclude each other
// follows from it. It is sound: yes and no are certain. It decides all demands but those of
// a number or a time that is also compared as a text, and within the limits of [examples] and
// of the work.
func satisfy(list []demand, spend func(units int) bool) (value string, possible truth) {
	x := &sample{examples: examples{work: spend}, demands: list}
	if slices.ContainsFunc(list, demand.fails) {
		return "", no
	}
	if values, finite := x.finite(); finite {
		return x.try(values, no)
	}
	x.collect()
	if x.number {
		if value, possible = x.try(x.numberForms(), unknown); possible == yes {
			return value, yes
		}
	}
	if x.time {
		if value, possible = x.try(x.appendTimes(nil), unknown); possible == yes {
			return value, yes
		}
	}
	if value, possible = x.try(x.strings(), unknown); possible == yes || x.spent {
		return value, possible
	}
	return "", x.excluded()
}

// excluded returns no if it is certain that nothing meets the demands, after the values have
// been tried.
func (x *sample) excluded() truth {
	const texts = comparesWhole | comparesPrefix | comparesSuffix | comparesPart
	mixed := (x.number || x.time) && x.kinds&texts != 0
	switch {
	case mixed && (x.contradicts(isText) || x.contradicts(isTyped) || x.opposed()):
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

	start, end   string   // the longest prefix and suffix that are demanded
	contained    []string // the parts that are demanded
	number, time bool     // the value must be a number, or a time
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
		if x.spent = x.spent || !x.work(1+len(value)/64); x.spent || d.condition.Accepts(value) != d.match {
			return false
		}
	}
	return true
}

// fails reports whether no value meets the demand because of the operand.
func (d demand) fails() bool { return d.match && d.operand.problem != NoProblem }

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
		return o.truths, d.match
	case isText(d.constraint) && o.part == comparesWhole && o.negated:
		return append(slices.Clip(d.operand.Texts), ""), !d.match
	case isText(d.constraint) && o.part == comparesWhole:
		return d.operand.Texts, d.match
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
		switch d.constraint.Type {
		case guidon.StringComparison, guidon.EntityIDComparison:
			x.collectText(d)
		case guidon.NumberComparison:
			x.number = x.number || d.match
		case guidon.DateTimeComparison:
			x.time = x.time || d.match
		}
	}
}

func (x *sample) collectText(d *demand) {
	o := operatorOf(d.constraint)
	if d.match == o.negated {
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

// strings returns strings of which at least one meets the demands if any does that is
// neither a number nor a time.
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
func isTyped(c *guidon.Constraint) bool { return !isText(c) }

// contradicts reports whether nothing meets the demands of one kind, and those of presence.
func (x *sample) contradicts(kind func(*guidon.Constraint) bool) bool {
	var some []demand
	for _, d := range x.demands {
		if kind(d.constraint) || operatorOf(d.constraint).presence {
			some = append(some, d)
		}
	}
	_, possible := satisfy(some, x.work)
	return possible == no
}

// opposed reports whether both outcomes of one comparison are demanded.
func (x *sample) opposed() bool {
	for i, a := range x.demands {
		for _, b := range x.demands[i+1:] {
			if a.match != b.match && comparesAs(a.constraint, b.constraint) {
				return true
			}
		}
	}
	return false
}
