package unleash

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
)

// condition is what a strategy or a segment requires: one constraint of each clause, and a time.
type condition struct {
	clauses     []clause
	from, until time.Time // zero if there is none
}

type clause []*guidon.Constraint

const (
	userID      = "userId" // the property of Unleash that is Guidon's entity id
	currentTime = "currentTime"
)

// add adds a constraint of Unleash, or returns why Guidon has none that is the same.
func (into *condition) add(c *constraint) error {
	kind, operator, _ := strings.Cut(c.Operator, "_")
	part := c.Operator == "STR_CONTAINS" && !c.CaseInsensitive
	switch {
	case !slices.Contains(operators, c.Operator):
		return fmt.Errorf("the operator %s is not taken over", guidon.Quote(c.Operator))
	case kind == "DATE":
		return into.addTime(c)
	case c.ContextName == currentTime:
		return errCurrentTime
	case kind == "IN" || kind == "NOT":
		return into.addList(c)
	case kind == "STR" && len(c.Values) == 0: // which is never true
		into.addOne(isOneOf(c.ContextName, nil), c.Inverted)
		return nil
	case kind == "STR" && slices.Contains(c.Values, ""):
		return fmt.Errorf("%s with a blank value", c.Operator)
	case part:
		into.addParts(c)
		return nil
	case c.ContextName == userID:
		return fmt.Errorf("%s of userId: Guidon compares ids only by IN, NOT_IN and STR_CONTAINS with case", c.Operator)
	case kind == "STR":
		return into.addPattern(c, operator)
	case kind == "NUM":
		return into.addNumber(c, orders[operator])
	}
	return into.addVersion(c, orders[operator])
}

var errCurrentTime = errors.New("the current time is compared with something else than a time")

// addOne adds a constraint, or its opposite.
func (into *condition) addOne(c *guidon.Constraint, negate bool) {
	c.Negate = negate
	into.clauses = append(into.clauses, clause{c})
}

// has reports whether the condition has the constraint already.
func (into *condition) has(c *guidon.Constraint) bool {
	return slices.ContainsFunc(into.clauses, func(some clause) bool { return len(some) == 1 && *some[0] == *c })
}

func (into *condition) addList(c *constraint) error {
	if c.CaseInsensitive {
		return fmt.Errorf("%s without case is not the same in all SDKs", c.Operator)
	}
	into.addOne(isOneOf(c.ContextName, c.Values), (c.Operator == "NOT_IN") != c.Inverted)
	return nil
}

// isOneOf returns the constraint that a property of Unleash is one of the values.
func isOneOf(property string, values []string) *guidon.Constraint {
	return compared(guidon.StringComparison, property, guidon.OpIsOneOf, string(change.Encode(append([]string{}, values...))))
}

// compared returns a constraint on a property of Unleash. Texts of userId are entity ids.
func compared(t guidon.ComparisonType, property, operator, value string) *guidon.Constraint {
	if property == userID {
		t, property = guidon.EntityIDComparison, guidon.EntityProperty
	}
	return &guidon.Constraint{Type: t, Property: property, Operator: operator, Value: value}
}

// addTime adds a time. Guidon includes the instant itself, which Unleash excludes from DATE_AFTER.
func (into *condition) addTime(c *constraint) error {
	after := c.Operator == "DATE_AFTER"
	at, err := time.Parse(time.RFC3339, string(c.Value))
	switch {
	case c.ContextName != currentTime:
		return fmt.Errorf("%s of %s: SDKs compare the current time instead", c.Operator, guidon.Quote(c.ContextName))
	case err != nil || at.Nanosecond() != 0:
		return fmt.Errorf("%s is not a time in whole seconds", guidon.Quote(string(c.Value)))
	case after == c.Inverted:
		into.restrict(time.Time{}, at.UTC())
	default:
		into.restrict(at.UTC(), time.Time{})
	}
	return nil
}

// restrict restricts the time to that between the two, unless they are zero.
func (into *condition) restrict(from, until time.Time) {
	if from.After(into.from) {
		into.from = from
	}
	if !until.IsZero() && (into.until.IsZero() || until.Before(into.until)) {
		into.until = until
	}
}

// never reports whether there is no time at which the condition holds.
func (into *condition) never() bool { return !into.until.IsZero() && !into.until.After(into.from) }

// addParts adds texts of which one must be a part of the property.
func (into *condition) addParts(c *constraint) {
	var any clause
	for _, value := range c.Values {
		contains := compared(guidon.StringComparison, c.ContextName, guidon.OpContains, value)
		if c.Inverted {
			into.addOne(contains, true)
		} else {
			any = append(any, contains)
		}
	}
	if len(any) > 0 {
		into.clauses = append(into.clauses, any)
	}
}

// addPattern adds a comparison with texts as a pattern, because Guidon has none without case, and
// trims a value before it compares its beginning or end.
func (into *condition) addPattern(c *constraint, operator string) error {
	texts, flags := make([]string, len(c.Values)), ""
	for i, value := range c.Values {
		if texts[i] = regexp.QuoteMeta(value); !c.CaseInsensitive {
			continue
		}
		if !isASCII(value) {
			return fmt.Errorf("%s without case, of letters outside ASCII", c.Operator)
		}
		// Without case, patterns take ſ for an s, and Unleash does not.
		flags, texts[i] = "(?i)", strings.ReplaceAll(regexp.QuoteMeta(strings.ToLower(value)), "s", "(?-i:[sS])")
	}
	pattern := "(?:" + strings.Join(texts, "|") + ")"
	switch operator {
	case "STARTS_WITH":
		pattern = "^" + pattern
	case "ENDS_WITH":
		pattern += "$"
	}
	into.addOne(compared(guidon.PatternComparison, c.ContextName, guidon.OpEQ, flags+pattern), c.Inverted)
	return nil
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > 127 })
}

var (
	decimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	orders  = map[string]string{"EQ": guidon.OpEQ, "GT": guidon.OpGT, "GTE": guidon.OpGTE, "LT": guidon.OpLT, "LTE": guidon.OpLTE}
)

func (into *condition) addNumber(c *constraint, order string) error {
	value := string(c.Value)
	if _, err := strconv.ParseFloat(value, 64); err != nil || !decimal.MatchString(value) {
		return fmt.Errorf("%s: %s is not a number", c.Operator, guidon.Quote(value))
	}
	into.addOne(compared(guidon.NumberComparison, c.ContextName, order, value), c.Inverted)
	return nil
}

// wholeVersion is how versions begin in which Unleash finds all three numbers. Guidon accepts
// others too.
var wholeVersion = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+([-+]|$)`)

func (into *condition) addVersion(c *constraint, order string) error {
	value := string(c.Value)
	if _, err := guidon.ParseVersion(value); err != nil || !wholeVersion.MatchString(value) {
		return fmt.Errorf("%s: %s is not a version", c.Operator, guidon.Quote(value))
	}
	version := compared(guidon.VersionComparison, c.ContextName, order, value)
	whole := compared(guidon.PatternComparison, c.ContextName, guidon.OpEQ, wholeVersion.String())
	version.Negate, whole.Negate = c.Inverted, c.Inverted
	switch {
	case c.Inverted:
		into.clauses = append(into.clauses, clause{version, whole})
		return nil
	case !into.has(whole):
		into.clauses = append(into.clauses, clause{whole})
	}
	into.clauses = append(into.clauses, clause{version})
	return nil
}

// onlyIPv4 is the pattern of addresses that SDKs look for in blocks. Guidon knows IPv4 addresses in
// the form of IPv6 too.
const onlyIPv4 = `^[0-9.]+$`

// addAddresses adds the condition of the strategy remoteAddress.
func (into *condition) addAddresses(list []string) error {
	for _, item := range list {
		address, bits, _ := strings.Cut(item, "/")
		parsed, err := netip.ParseAddr(address)
		if bits != "" && err == nil {
			_, err = netip.ParsePrefix(item)
		}
		if err != nil || !parsed.Is4() {
			return fmt.Errorf("%s is not an IPv4 address or block", guidon.Quote(item))
		}
	}
	into.addOne(compared(guidon.AddressComparison, "remoteAddress", guidon.OpIsOneOf, string(change.Encode(list))), false)
	into.addOne(compared(guidon.PatternComparison, "remoteAddress", guidon.OpEQ, onlyIPv4), false)
	return nil
}

// conditions returns the condition, and the portion if there is one, for a rule with the segments.
func (into *condition) conditions(p *guidon.Portion, segments []string) *guidon.Conditions {
	c := &guidon.Conditions{Portion: p, From: into.from, Until: into.until}
	var all clause
	for _, some := range into.clauses {
		if len(some) == 1 {
			all = append(all, some...)
		} else {
			c.Groups = append(c.Groups, &guidon.ConstraintGroup{MatchType: guidon.MatchAny, Constraints: some})
		}
	}
	for part := range slices.Chunk(all, service.MaxGroupConstraints) {
		c.Groups = append(c.Groups, &guidon.ConstraintGroup{MatchType: guidon.MatchAll, Constraints: part})
	}
	c.Everyone = len(c.Groups) == 0 && len(segments) == 0
	return c
}

// segment returns the condition as a segment, or nil if a segment cannot have it.
func (into *condition) segment(key, name string) *guidon.Segment {
	match, constraints := guidon.MatchAll, slices.Concat(into.clauses...)
	switch {
	case !into.from.IsZero() || !into.until.IsZero() || len(constraints) == 0:
		return nil
	case len(into.clauses) == 1:
		match = guidon.MatchAny
	case len(constraints) > len(into.clauses):
		return nil
	}
	return &guidon.Segment{Key: key, Name: name, MatchType: match, Constraints: constraints}
}
