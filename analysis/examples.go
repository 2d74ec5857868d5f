package analysis

import (
	"iter"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/guidonhq/guidon"
)

// examples collects the constraints on a property, and makes values of the property that
// tell them apart. Whether a value matches is left to the matchers.
//
// The values are complete, that is, no other value has outcomes that none of them has, for
// constraints that
//
//   - compare numbers only, or booleans only, or times only, or versions only, or addresses only,
//   - compare strings for equality, by lists, and either by prefixes or by suffixes,
//   - contain one text, or do not, without any other comparison,
//   - compare the property as a list with one list, without any other comparison.
//
// Any of these may be combined with tests of presence, and with constraints that never match.
// Other combinations have values too, but perhaps not all.
type examples struct {
	work      func(units int) bool
	kinds     comparisons
	literals  []string // strings that are compared as a whole
	prefixes  []string
	suffixes  []string
	parts     []string // contained in strings
	numbers   []float64
	times     []time.Time
	versions  []string
	lists     [][]string // different ones
	items     []string   // of the lists, each one once
	addresses []netip.Prefix
	cut       bool // there are too many values
}

// comparisons are ways of comparing a property, as bits.
type comparisons uint16

const (
	comparesWhole comparisons = 1 << iota
	comparesPrefix
	comparesSuffix
	comparesPart
	comparesNumber
	comparesBoolean
	comparesTime
	comparesVersion
	comparesItems
	comparesAddress
	comparesPattern

	comparesText = comparesWhole | comparesPrefix | comparesSuffix | comparesPart
)

// add adds a constraint.
func (e *examples) add(c *guidon.Constraint, o *operand) {
	if operatorOf(c).presence || o.problem != NoProblem {
		return // depends on whether there is a value, or on nothing
	}
	kind := kindOf(c)
	if operators[c.Operator] == nil || kind == 0 || !e.work(1+len(c.Value)/64) {
		e.cut = true
		return
	}
	e.kinds |= kind
	switch kind {
	case comparesWhole:
		e.literals = append(e.literals, o.Texts...)
	case comparesPrefix:
		e.prefixes = appendNew(e.prefixes, o.Texts[0])
	case comparesSuffix:
		e.suffixes = appendNew(e.suffixes, o.Texts[0])
	case comparesPart:
		e.parts = appendNew(e.parts, o.Texts[0])
	case comparesNumber:
		e.numbers = append(e.numbers, slices.DeleteFunc(slices.Clone(o.Numbers), math.IsNaN)...) // NaN is one of the values anyway
	case comparesTime:
		e.times = append(e.times, o.Instant)
	case comparesVersion:
		e.versions = appendNew(e.versions, c.Value)
	case comparesItems:
		e.addList(o.Texts)
	case comparesAddress:
		e.addAddresses(c)
	}
	e.cut = e.cut || len(e.literals)+len(e.numbers)+len(e.versions)+len(e.items)+len(e.addresses) > maxExamples
}

func appendNew(to []string, text string) []string {
	if slices.Contains(to, text) {
		return to
	}
	return append(to, text)
}

// complete reports whether the values have all outcomes that are possible.
func (e *examples) complete() bool {
	if e.cut {
		return false
	}
	switch e.kinds {
	case 0, comparesNumber, comparesBoolean, comparesTime, comparesVersion, comparesAddress,
		comparesWhole, comparesPrefix, comparesWhole | comparesPrefix, comparesSuffix, comparesWhole | comparesSuffix:
		return true
	case comparesPart:
		return len(e.parts) == 1
	case comparesItems:
		return len(e.lists) == 1
	}
	return false
}

// values returns the values, the most telling ones first.
func (e *examples) values() []string {
	values := slices.Grow(slices.Clone(e.literals), 2*(len(e.numbers)+len(e.times))+10)
	unused := ""
	if len(e.prefixes)+len(e.suffixes)+len(e.parts) > 0 {
		unused = string(e.unused())
		values = e.appendCombinations(values, unused)
	}
	values = e.appendNumbers(values)
	values = e.appendTimes(values)
	values = e.appendVersions(values)
	values = e.appendLists(values)
	values = e.appendAddresses(values)
	if e.kinds&comparesBoolean != 0 {
		values = append(values, "true", "false")
	}
	values = append(values, e.other(unused), "")
	values = append(values, e.blanks()...)
	if len(values) > 2*maxExamples {
		values, e.cut = values[:2*maxExamples], true
	}
	return values
}

// appendCombinations appends strings that have some of the prefixes, parts and suffixes.
func (e *examples) appendCombinations(values []string, unused string) []string {
	for _, p := range e.prefixes {
		values = append(values, p+unused)
	}
	for _, s := range e.suffixes {
		values = append(values, unused+s)
	}
	for _, p := range e.parts {
		values = append(values, unused+p+unused)
	}
	values = slices.Concat(values, e.prefixes, e.suffixes, e.parts)
	all := unused + strings.Join(e.parts, unused) + unused
	for _, p := range append([]string{""}, e.prefixes...) {
		for _, s := range append([]string{""}, e.suffixes...) {
			if len(values) > maxExamples || !e.work(1+(len(p)+len(all)+len(s))/64) {
				e.cut = true
				return values
			}
			values = append(values, p+unused+s, p+all+s)
			for _, part := range e.parts {
				values = append(values, p+unused+part+unused+s)
			}
		}
	}
	return values
}

// appendNumbers appends the numbers, and one on each side of each.
func (e *examples) appendNumbers(values []string) []string {
	if e.kinds&comparesNumber == 0 {
		return values
	}
	slices.Sort(e.numbers)
	e.numbers = slices.Compact(e.numbers)
	for _, n := range e.numbers {
		values = append(values, formatNumber(n))
	}
	last := math.Inf(-1)
	for _, n := range append(e.numbers, math.Inf(1)) {
		if between, ok := numberBetween(last, n); ok {
			values = append(values, formatNumber(between))
		}
		last = n
	}
	return append(values, "-Inf", "Inf", "NaN")
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'g', -1, 64) }

// numberBetween returns a number between the two, an integer if possible.
func numberBetween(a, b float64) (float64, bool) {
	for _, n := range [...]float64{math.Floor(a) + 1, math.Ceil(b) - 1, 0, a/2 + b/2, math.Nextafter(a, b)} {
		if a < n && n < b {
			return n, true
		}
	}
	return 0, false
}

// appendTimes appends the times, and one on each side of each.
func (e *examples) appendTimes(values []string) []string {
	if len(e.times) == 0 {
		return values
	}
	slices.SortFunc(e.times, time.Time.Compare)
	first, last := e.times[0], e.times[len(e.times)-1]
	around := append([]time.Time{first.AddDate(0, 0, -1)}, e.times...)
	for i, t := range e.times[1:] {
		between := e.times[i].Add(time.Second)
		if !between.Before(t) {
			between = e.times[i].Add(1)
		}
		around = append(around, between)
	}
	for _, t := range append(around, last.AddDate(0, 0, 1)) {
		t = t.UTC()
		if t.Year() < 0 || t.Year() > 9999 {
			e.cut = true // it has no RFC 3339 form
			continue
		}
		values = append(values, t.Format(time.RFC3339Nano))
	}
	return values
}

// other returns a string that no constraint mentions, neither as a whole nor in part.
func (e *examples) other(unused string) string {
	for _, word := range []string{"other", "x", "another"} {
		if !e.mentions(word) {
			return word
		}
	}
	if unused == "" {
		unused = string(e.unused())
	}
	return unused
}

// mentions reports whether a constraint mentions a part of the word.
func (e *examples) mentions(word string) bool {
	for text := range e.texts() {
		if text != "" && strings.Contains(word, text) {
			return true
		}
	}
	return false
}

// texts yields the strings that constraints mention.
func (e *examples) texts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, texts := range [...][]string{e.literals, e.prefixes, e.suffixes, e.parts, e.items} {
			for _, text := range texts {
				if !yield(text) {
					return
				}
			}
		}
	}
}

// unused returns a character that no constraint has, and that is not white space. A string
// that has it is neither a boolean nor, if other types are compared, a value of these.
func (e *examples) unused() rune {
	used := strings.Join(slices.Collect(e.texts()), "\n")
	letters := "xyzqwjkvabcdeghilmnoprsu"
	if e.kinds&(comparesNumber|comparesBoolean|comparesTime) != 0 {
		letters = "zqwjkvhgmo"
	}
	if e.kinds&(comparesVersion|comparesItems|comparesAddress) != 0 {
		letters = "~!$&*|;"
	}
	for _, r := range letters {
		if !strings.ContainsRune(used, r) {
			return r
		}
	}
	rare := make(map[rune]bool)
	for _, r := range used {
		rare[r] = true
	}
	e.cut = e.cut || rare[utf8.RuneError] // it may stand for a part of the character
	for r := rune(0x4e00); r < utf8.MaxRune; r++ {
		if utf8.ValidRune(r) && !rare[r] {
			return r
		}
	}
	e.cut = true
	return 'x'
}

// blanks returns strings of white space: two, and one that no constraint mentions.
func (e *examples) blanks() []string {
	longest := 0
	for _, text := range e.literals {
		if strings.TrimSpace(text) == "" {
			longest = max(longest, len(text))
		}
	}
	if longest > maxBlank {
		e.cut, longest = true, maxBlank
	}
	return []string{" ", "\t", strings.Repeat(" ", longest+1)}
}

// maxBlank is the length of the longest string of white space that is tried.
const maxBlank = 1000
