package flagtest

import (
	"encoding/json"
	"hash/crc32"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// Oracle evaluates flags as contract 7 says, step by step and without anything compiled. It is
// slow, and knows nothing of package guidon but its objects.
type Oracle struct{ Segments []*guidon.Segment }

// Variant returns the result of a variant flag, without Bucketed.
func (o Oracle) Variant(f *guidon.Flag, id string, context map[string]string) guidon.VariantResult {
	var result guidon.VariantResult
	if v := f.DefaultVariant(); v != nil {
		result = guidon.VariantResult{Reason: guidon.ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	if !f.Enabled {
		result.Reason = guidon.ReasonFlagDisabled
		return result
	}
	for _, r := range f.Rules {
		if matched := o.matched(r.SegmentKeys, r.SegmentOperator, id, context); matched != nil {
			result.SegmentKeys = matched
			return distribute(f, r, id, result)
		}
	}
	return result
}

// distribute is 7.5.5 from its second item.
func distribute(f *guidon.Flag, r *guidon.Rule, id string, result guidon.VariantResult) guidon.VariantResult {
	bucket := int(crc32.ChecksumIEEE([]byte(f.Key+id)) % 1000)
	end, shared := 0, false
	for _, d := range r.Distributions {
		v := f.Variant(d.VariantID)
		if v == nil || !(d.Rollout > 0) {
			continue
		}
		shared = true
		if end += int(d.Rollout * 10); bucket < end {
			result.Match, result.Reason, result.VariantKey, result.Attachment = true, guidon.ReasonMatch, v.Key, v.Attachment
			return result
		}
	}
	if !shared {
		result.Match, result.Reason = true, guidon.ReasonMatch
	}
	return result
}

// Boolean returns the result of a boolean flag, without Bucketed.
func (o Oracle) Boolean(f *guidon.Flag, id string, context map[string]string) guidon.BooleanResult {
	for _, r := range f.Rollouts {
		switch t, s := r.Threshold, r.Segment; {
		case t != nil && float32(crc32.ChecksumIEEE([]byte(id+f.Key))%100) < t.Percentage:
			return guidon.BooleanResult{Enabled: t.Value, Reason: guidon.ReasonMatch}
		case t == nil && s != nil:
			if matched := o.matched(s.SegmentKeys, s.SegmentOperator, id, context); matched != nil {
				return guidon.BooleanResult{Enabled: s.Value, Reason: guidon.ReasonMatch, SegmentKeys: matched}
			}
		}
	}
	return guidon.BooleanResult{Enabled: f.Enabled, Reason: guidon.ReasonDefault}
}

// matched returns the segments that matched (7.4), or nil if the rule does not match.
func (o Oracle) matched(keys []string, operator guidon.SegmentOperator, id string, context map[string]string) (matched []string) {
	for _, key := range keys {
		g := o.segment(key)
		if g == nil {
			return nil
		}
		if inSegment(g, id, context) {
			matched = append(matched, key)
		}
	}
	if operator == guidon.AndSegments && len(matched) < len(keys) {
		return nil
	}
	return matched
}

func (o Oracle) segment(key string) *guidon.Segment {
	for _, g := range o.Segments {
		if g.Key == key {
			return g
		}
	}
	return nil
}

// inSegment is 7.3.
func inSegment(g *guidon.Segment, id string, context map[string]string) bool {
	held := 0
	for _, c := range g.Constraints {
		value := context[c.Property]
		if c.Type == guidon.EntityIDComparison {
			value = id
		}
		if holds(c, value) != c.Negate {
			held++
		}
	}
	if g.MatchType == guidon.MatchAny {
		return held > 0 || len(g.Constraints) == 0
	}
	return held == len(g.Constraints)
}

// holds is contract 7.2 for one constraint, without its negation.
func holds(c *guidon.Constraint, v string) bool {
	if !slices.Contains(kinds(c.Operator), c.Type) {
		return false
	}
	blank := strings.TrimSpace(v) == ""
	switch c.Operator {
	case "empty", "notpresent":
		return blank
	case "notempty", "present":
		return !blank
	}
	if v == "" {
		return false
	}
	switch c.Type {
	case guidon.StringComparison, guidon.EntityIDComparison:
		return holdsText(c, v)
	case guidon.NumberComparison:
		return holdsNumber(c, v)
	case guidon.BooleanComparison:
		truth, err := strconv.ParseBool(v)
		return err == nil && truth == (c.Operator == "true")
	case guidon.DateTimeComparison:
		at, ok := instant(v)
		than, ok2 := instant(c.Value)
		return ok && ok2 && ordered(c.Operator, at.Compare(than))
	case guidon.VersionComparison:
		at, ok := version(v)
		than, ok2 := version(c.Value)
		return ok && ok2 && ordered(c.Operator, slices.CompareFunc(at, than, compareParts))
	case guidon.PatternComparison:
		pattern, err := regexp.Compile(c.Value)
		return err == nil && len(c.Value) <= 512 && len(v) <= 4096 && pattern.MatchString(v)
	case guidon.ListComparison:
		return holdsList(c, v)
	}
	return holdsAddress(c, v)
}

// kinds are the types that have the operator (contract 4.3).
func kinds(operator string) []guidon.ComparisonType {
	const text, number, boolean, date, id = guidon.StringComparison, guidon.NumberComparison, guidon.BooleanComparison, guidon.DateTimeComparison, guidon.EntityIDComparison
	const version, pattern, list, address = guidon.VersionComparison, guidon.PatternComparison, guidon.ListComparison, guidon.AddressComparison
	switch operator {
	case "eq":
		return []guidon.ComparisonType{text, number, date, id, version, pattern}
	case "neq":
		return []guidon.ComparisonType{text, number, date, id, version}
	case "lt", "lte", "gt", "gte":
		return []guidon.ComparisonType{number, date, version}
	case "prefix", "suffix", "contains", "notcontains", "empty", "notempty":
		return []guidon.ComparisonType{text, id} // of ids as of texts (7.2)
	case "isoneof":
		return []guidon.ComparisonType{text, number, id, address}
	case "isnotoneof":
		return []guidon.ComparisonType{text, number, id}
	case "present", "notpresent":
		return []guidon.ComparisonType{number, boolean, date, version, list}
	case "true", "false":
		return []guidon.ComparisonType{boolean}
	case "anyof", "allof":
		return []guidon.ComparisonType{list}
	}
	return nil
}

func holdsText(c *guidon.Constraint, v string) bool {
	var list []string
	switch c.Operator {
	case "eq":
		return v == c.Value
	case "neq":
		return v != c.Value
	case "prefix":
		return strings.HasPrefix(strings.TrimSpace(v), c.Value)
	case "suffix":
		return strings.HasSuffix(strings.TrimSpace(v), c.Value)
	case "contains":
		return strings.Contains(v, c.Value)
	case "notcontains":
		return !strings.Contains(v, c.Value)
	}
	return json.Unmarshal([]byte(c.Value), &list) == nil && slices.Contains(list, v) == (c.Operator == "isoneof")
}

func holdsNumber(c *guidon.Constraint, v string) bool {
	at, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return false
	}
	if strings.HasSuffix(c.Operator, "oneof") {
		var list []float64
		return json.Unmarshal([]byte(c.Value), &list) == nil && slices.Contains(list, at) == (c.Operator == "isoneof")
	}
	than, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		return false
	}
	switch c.Operator {
	case "eq":
		return at == than
	case "neq":
		return at != than
	case "lt":
		return at < than
	case "lte":
		return at <= than
	case "gt":
		return at > than
	}
	return at >= than
}

func ordered(operator string, result int) bool {
	return map[string]bool{"eq": result == 0, "neq": result != 0, "lt": result < 0, "lte": result <= 0, "gt": result > 0, "gte": result >= 0}[operator]
}

func instant(text string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

var semantic = regexp.MustCompile(`^v?(0|[1-9]\d{0,17})(\.(0|[1-9]\d{0,17}))?(\.(0|[1-9]\d{0,17}))?` +
	`(-((?:0|[1-9]\d{0,17}|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d{0,17}|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)

// version returns the parts of a version that are compared one after the other: major, minor,
// patch, then "~" or the prerelease's identifiers.
func version(text string) (parts []string, ok bool) {
	found := semantic.FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	for _, number := range []string{found[1], found[3], found[5]} {
		if number == "" {
			number = "0"
		}
		parts = append(parts, number)
	}
	if found[7] == "" {
		return append(parts, "~"), true
	}
	return append(parts, strings.Split(found[7], ".")...), true
}

func compareParts(a, b string) int {
	x, notX := strconv.ParseUint(a, 10, 64)
	y, notY := strconv.ParseUint(b, 10, 64)
	switch {
	case notX == nil && notY == nil && x < y, notX == nil && notY != nil:
		return -1
	case notX == nil && notY == nil && x > y, notX != nil && notY == nil:
		return 1
	case notX == nil:
		return 0
	}
	return strings.Compare(a, b)
}

// scalars returns the texts of a JSON array, and whether all of its items have one.
func scalars(text string) (texts []string, array, all bool) {
	var items []json.RawMessage
	if json.Unmarshal([]byte(text), &items) != nil || items == nil {
		return nil, false, false
	}
	all = true
	for _, item := range items {
		var s string
		switch {
		case json.Unmarshal(item, &s) == nil && item[0] == '"':
			texts = append(texts, s)
		case strings.ContainsRune("{[n", rune(item[0])):
			all = false
		default:
			texts = append(texts, string(item))
		}
	}
	return texts, true, all
}

func holdsList(c *guidon.Constraint, v string) bool {
	want, array, all := scalars(c.Value)
	if !array || !all {
		return false
	}
	has, array, _ := scalars(v)
	if !array {
		has = []string{v}
	}
	found := 0
	for _, text := range want {
		if slices.Contains(has, text) {
			found++
		}
	}
	if c.Operator == "allof" {
		return found == len(want)
	}
	return found > 0
}

func holdsAddress(c *guidon.Constraint, v string) bool {
	var list []string
	at, err := netip.ParseAddr(v)
	if err != nil || at.Zone() != "" || json.Unmarshal([]byte(c.Value), &list) != nil {
		return false
	}
	found := false
	for _, text := range list {
		if !strings.Contains(text, "/") {
			one, err := netip.ParseAddr(text)
			if err != nil || one.Zone() != "" {
				return false // the list is not valid
			}
			found = found || one.Unmap() == at.Unmap()
			continue
		}
		block, err := netip.ParsePrefix(text)
		if err != nil {
			return false
		}
		if address := block.Addr(); address.Is4In6() && block.Bits() >= 96 {
			block = netip.PrefixFrom(address.Unmap(), block.Bits()-96)
		}
		found = found || block.Contains(at.Unmap())
	}
	return found
}

// Text returns the objects as JSON, for the message of a failure.
func Text(objects ...any) string {
	text, err := json.Marshal(objects)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
