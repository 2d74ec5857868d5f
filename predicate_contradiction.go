package guidon

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The functions of this file are sound and not complete: they return true only if it is
// certain, and false if it is not known.

// maxCompared limits how many constraints are compared with each other.
const maxCompared = 64

// contradictory reports whether no entity can satisfy all the constraints.
func contradictory(list []*claim) bool { return len(contradiction(list)) > 0 }

// conflict returns some of the constraints that no entity can satisfy together, or none.
// None of them can be left out.
func conflict(list []*claim) []*claim {
	list = contradiction(list)
	for i := 0; i < len(list) && len(list) > 1; {
		if rest := slices.Delete(slices.Clone(list), i, i+1); impossible(rest) {
			list = rest
		} else {
			i++
		}
	}
	return list
}

// contradiction returns constraints about one subject that no entity can satisfy together,
// or none.
func contradiction(list []*claim) []*claim {
	if i := slices.IndexFunc(list, (*claim).neverHolds); i >= 0 {
		return list[i : i+1]
	}
	if len(list) > maxCompared {
		return nil
	}
	for _, about := range bySubject(list) {
		if impossible(about) {
			return about
		}
	}
	return nil
}

// bySubject groups the constraints by what they are about, in the order of the first ones.
func bySubject(list []*claim) [][]*claim {
	var groups [][]*claim
	for _, c := range list {
		i := slices.IndexFunc(groups, func(g []*claim) bool { return g[0].subject == c.subject })
		if i < 0 {
			i = len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	return groups
}

// neverHolds reports whether no value satisfies the constraint.
func (c *claim) neverHolds() bool {
	values, finite := c.candidates()
	return finite && !slices.ContainsFunc(values, c.holdsFor) || contradictoryNumbers([]*claim{c}) || contradictoryTimes([]*claim{c})
}

// impossible reports whether no value satisfies all the constraints, which are about the
// same subject.
func impossible(list []*claim) bool {
	if len(list) == 0 {
		return false
	}
	if values, finite := remaining(list); finite {
		return len(values) == 0
	}
	return contradictoryBlanks(list) || contradictoryNumbers(list) || contradictoryTimes(list) || contradictoryTexts(list)
}

// remaining returns the values that satisfy all the constraints, if one of them leaves
// only a few.
func remaining(list []*claim) (values []string, finite bool) {
	for _, c := range list {
		if values, finite = c.candidates(); finite {
			break
		}
	}
	if !finite {
		return nil, false
	}
	for _, value := range values {
		if !slices.ContainsFunc(list, func(c *claim) bool { return !c.holdsFor(value) }) {
			return []string{value}, true // whether there are more does not matter
		}
	}
	return nil, true
}

func contradictoryBlanks(list []*claim) bool {
	return slices.ContainsFunc(list, (*claim).wantsBlank) && slices.ContainsFunc(list, (*claim).needsContent)
}

// complementary reports whether every entity satisfies one of the constraints, because two
// of them are the opposite of each other.
func complementary(list []*claim) bool {
	blank := map[string]bool{} // by subject
	for _, c := range list {
		if c.wantsBlank() {
			blank[c.subject] = true
		}
	}
	return slices.ContainsFunc(list, func(c *claim) bool { return c.wantsContent() && blank[c.subject] })
}

func contradictoryTexts(list []*claim) bool {
	for i, a := range list {
		for _, b := range list[i+1:] {
			if a.isText() && b.isText() && (a.excludesPart(b.needsPart()) || b.excludesPart(a.needsPart()) || differentEnds(a, b)) {
				return true
			}
		}
	}
	return false
}

// differentEnds reports whether no text begins, or ends, as both constraints require.
func differentEnds(a, b *claim) bool {
	switch {
	case a.Operator != b.Operator:
		return false
	case a.Operator == OpPrefix:
		return !strings.HasPrefix(a.Value, b.Value) && !strings.HasPrefix(b.Value, a.Value)
	case a.Operator == OpSuffix:
		return !strings.HasSuffix(a.Value, b.Value) && !strings.HasSuffix(b.Value, a.Value)
	}
	return false
}

// bounds are the limits that constraints put on an ordered value.
type bounds[T any] struct {
	compare         func(a, b T) int
	low, high       T
	hasLow, hasHigh bool
	lowOut, highOut bool // the limit itself is outside
	excluded        []T
}

// limit applies a comparison with the value.
func (b *bounds[T]) limit(operator string, value T) {
	switch operator {
	case OpEQ:
		b.raise(value, false)
		b.lower(value, false)
	case OpGT, OpGTE:
		b.raise(value, operator == OpGT)
	case OpLT, OpLTE:
		b.lower(value, operator == OpLT)
	case OpNEQ:
		b.excluded = append(b.excluded, value)
	}
}

func (b *bounds[T]) raise(to T, out bool) {
	switch order := b.compare(to, b.low); {
	case !b.hasLow || order > 0:
		b.low, b.lowOut, b.hasLow = to, out, true
	case order == 0:
		b.lowOut = b.lowOut || out
	}
}

func (b *bounds[T]) lower(to T, out bool) {
	switch order := b.compare(to, b.high); {
	case !b.hasHigh || order < 0:
		b.high, b.highOut, b.hasHigh = to, out, true
	case order == 0:
		b.highOut = b.highOut || out
	}
}

// empty reports whether no value is left.
func (b *bounds[T]) empty() bool {
	if !b.hasLow || !b.hasHigh {
		return false
	}
	order := b.compare(b.low, b.high)
	if order != 0 {
		return order > 0
	}
	return b.lowOut || b.highOut || slices.ContainsFunc(b.excluded, func(x T) bool { return b.compare(x, b.low) == 0 })
}

// contradictoryNumbers compares the numeric constraints of the list. Those with a list of
// numbers leave only these.
func contradictoryNumbers(list []*claim) bool {
	b := &bounds[float64]{compare: cmp.Compare[float64]}
	var numeric []*claim
	for _, c := range list {
		if c.Type != NumberComparison || c.isOne(OpPresent, OpNotPresent) || !c.value.valid {
			continue
		}
		numeric = append(numeric, c)
		switch c.Operator {
		case OpIsOneOf:
		case OpIsNotOneOf:
			b.excluded = append(b.excluded, c.value.numbers...)
		default:
			b.limit(c.Operator, c.value.numbers[0])
		}
	}
	if b.empty() {
		return true
	}
	i := slices.IndexFunc(numeric, func(c *claim) bool { return c.Operator == OpIsOneOf })
	return i >= 0 && !slices.ContainsFunc(numeric[i].value.numbers, func(number float64) bool {
		value := strconv.FormatFloat(number, 'g', -1, 64)
		return !slices.ContainsFunc(numeric, func(c *claim) bool { return !c.holdsFor(value) })
	})
}

func contradictoryTimes(list []*claim) bool {
	b := &bounds[time.Time]{compare: time.Time.Compare}
	for _, c := range list {
		if c.Type == DateTimeComparison && c.value.valid && !c.isOne(OpPresent, OpNotPresent) {
			b.limit(c.Operator, c.value.instant)
		}
	}
	return b.empty()
}
