package flagtest

import (
	"cmp"
	"encoding/json"
	"hash/crc32"
	"math"
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
type Oracle struct {
	Flags    []*guidon.Flag // that others may require
	Segments []*guidon.Segment
	Now      time.Time
}

// holds reports whether a rule with the conditions holds now.
func (o Oracle) holds(c *guidon.Conditions) bool {
	return !o.Now.Before(c.From) && (c.Until.IsZero() || o.Now.Before(c.Until))
}

// threshold returns the threshold with the percentage that it has now.
func (o Oracle) threshold(t *guidon.RolloutThreshold) *guidon.RolloutThreshold {
	now := *t
	now.Percentage = o.percentage(t.Ramp, t.Percentage)
	return &now
}

// portion is threshold for a portion, or nil.
func (o Oracle) portion(p *guidon.Portion) *guidon.Portion {
	if p == nil {
		return nil
	}
	now := *p
	now.Percentage = o.percentage(p.Ramp, p.Percentage)
	return &now
}

// percentage goes along the ramp minute by minute, and returns the percentage where it is now.
func (o Oracle) percentage(r *guidon.Ramp, target float32) float32 {
	if r == nil {
		return target
	}
	const backAtInitial = -1
	length := int(r.Length() / time.Minute)
	start := r.Start.Add(r.Delay)
	lapsed, done := false, backAtInitial // minutes
	for at := start; !at.After(o.Now); at = at.Add(time.Minute) {
		switch {
		case !r.Reversed.IsZero() && at.After(r.Reversed):
			done = max(done-1, backAtInitial)
		case !r.Paused.IsZero() && at.After(r.Paused), lapsed, done == length:
		default:
			if lapsed = done+1 < length && unconfirmed(r, start, at); !lapsed {
				done++
			} else if r.Confirm.Lapse == guidon.BackRamp {
				done = backAtInitial
			}
		}
	}
	if done == backAtInitial {
		return r.Initial
	}
	return percentageAfter(r, target, done)
}

// unconfirmed reports whether the last confirmation of the ramp no longer counts.
func unconfirmed(r *guidon.Ramp, start, at time.Time) bool {
	if r.Confirm == nil {
		return false
	}
	since := start
	if r.Confirm.Last.After(start) {
		since = r.Confirm.Last
	}
	return at.Sub(since) >= r.Confirm.Every
}

// percentageAfter returns the percentage after so many minutes of the ramp.
func percentageAfter(r *guidon.Ramp, target float32, done int) float32 {
	for _, step := range r.Steps {
		if done -= int(step.For / time.Minute); done < 0 {
			return step.Percentage
		}
	}
	if r.Over == 0 {
		return target
	}
	over, from := int(r.Over/time.Minute), float64(r.Initial)
	all, taken := min(100, over), 0
	for taken < all && (taken+1)*over <= all*done {
		taken++
	}
	return float32(from + (float64(target)-from)*float64(taken)/float64(all))
}

// Variant returns the result of a variant flag.
func (o Oracle) Variant(f *guidon.Flag, id string, context map[string]string) guidon.VariantResult {
	var initial guidon.VariantResult
	if v := f.DefaultVariant(); v != nil {
		initial = guidon.VariantResult{Reason: guidon.ReasonDefault, VariantKey: v.Key, Attachment: v.Attachment}
	}
	bucketed := false
	if f.Enabled {
		initial.Unmet = o.unmet(f.Requires, id, context, &bucketed)
	}
	if !f.Enabled || initial.Unmet != "" {
		initial.Reason, initial.Bucketed = guidon.ReasonFlagDisabled, bucketed
		return initial
	}
	for i, r := range f.Rules {
		if !o.holds(r.Stated()) {
			continue
		}
		matched, ok := o.target(f, r.SegmentKeys, r.SegmentOperator, r.Stated(), id, context, &bucketed)
		divided := valueOf(r.Split, id, context)
		if !ok || r.Split != nil && r.Split.By != "" && divided == "" {
			continue
		}
		result := initial
		result.SegmentKeys, result.Bucketed, result.Rule = matched, bucketed, int32(i+1)
		if r.CodeDefault {
			return guidon.VariantResult{Reason: guidon.ReasonDefault, Rule: result.Rule, SegmentKeys: matched, Bucketed: bucketed}
		}
		result.Divided = partialPortion(o.portion(r.Stated().Portion))
		return distribute(f, r, divided, result)
	}
	initial.Bucketed = bucketed
	return initial
}

// unmet returns the key of the first flag that does not answer as required, or "".
func (o Oracle) unmet(all []guidon.Requirement, id string, context map[string]string, bucketed *bool) string {
	for _, r := range all {
		answer := "no such flag"
		if i := slices.IndexFunc(o.Flags, func(f *guidon.Flag) bool { return f.Key == r.FlagKey }); i >= 0 {
			answer = o.answer(o.Flags[i], id, context, bucketed)
		}
		if len(r.Answers) == 0 && answer != "true" || len(r.Answers) > 0 && !slices.Contains(r.Answers, answer) {
			return r.FlagKey
		}
	}
	return ""
}

func (o Oracle) answer(f *guidon.Flag, id string, context map[string]string, bucketed *bool) string {
	if f.Type == guidon.VariantFlag {
		result := o.Variant(f, id, context)
		*bucketed = *bucketed || result.Bucketed
		return result.VariantKey
	}
	result := o.Boolean(f, id, context)
	*bucketed = *bucketed || result.Bucketed
	return strconv.FormatBool(result.Enabled)
}

// distribute is 7.5.5 from its second item.
func distribute(f *guidon.Flag, r *guidon.Rule, value string, result guidon.VariantResult) guidon.VariantResult {
	split := guidon.Split{}
	if r.Split != nil {
		split = *r.Split
	}
	hash := hashOf(split, guidon.FliptHash)
	bucket := bucketOf(hash, split.Seed, f.Key, value, false, 0)
	if hash == guidon.UnleashHash {
		bucket = unleashBucket(split.Seed, f.Key, value, 86028157, 1000)
	}
	of := 1000
	if isFine(hash) {
		of = 100_000
	}
	end, sum, any := 0, 0.0, false
	chosen := (*guidon.Variant)(nil)
	for _, d := range r.Distributions {
		v := f.Variant(d.VariantID)
		if v == nil || !(d.Rollout > 0) {
			continue
		}
		sum += float64(d.Rollout)
		end += int(d.Rollout * 10)
		if isFine(hash) {
			end = int(math.Round(1000 * sum))
		}
		if !any && end < of { // the first one leaves something to the others
			result.Divided = true
			result.Bucketed = result.Bucketed || split.By == ""
		}
		any = true
		if chosen == nil && bucket < end {
			chosen = v
		}
	}
	if chosen != nil {
		result.VariantKey, result.Attachment = chosen.Key, chosen.Attachment
	}
	if !any || chosen != nil {
		result.Match, result.Reason = true, guidon.ReasonMatch
	}
	return result
}

// Boolean returns the result of a boolean flag.
func (o Oracle) Boolean(f *guidon.Flag, id string, context map[string]string) guidon.BooleanResult {
	bucketed, divided := false, false
	if key := o.unmet(f.Requires, id, context, &bucketed); key != "" {
		return guidon.BooleanResult{Reason: guidon.ReasonDefault, Bucketed: bucketed, Unmet: key}
	}
	for i, r := range f.Rollouts {
		switch {
		case !o.holds(r.Stated()):
		case r.Threshold != nil:
			t := o.threshold(r.Threshold)
			if partialThreshold(t) {
				divided = true
				bucketed = bucketed || t.Split == nil || t.Split.By == ""
			}
			if inThreshold(f, t, id, context) {
				return guidon.BooleanResult{Enabled: t.Value, Reason: guidon.ReasonMatch, Rule: int32(i + 1), Bucketed: bucketed, Divided: divided}
			}
		case r.Segment != nil:
			if matched, ok := o.target(f, r.Segment.SegmentKeys, r.Segment.SegmentOperator, r.Stated(), id, context, &bucketed); ok {
				return guidon.BooleanResult{
					Enabled: r.Segment.Value, Reason: guidon.ReasonMatch, Rule: int32(i + 1), SegmentKeys: matched,
					Bucketed: bucketed, Divided: partialPortion(o.portion(r.Stated().Portion)),
				}
			}
		}
	}
	return guidon.BooleanResult{Enabled: f.Enabled, Reason: guidon.ReasonDefault, Bucketed: bucketed}
}

// partialThreshold reports whether a threshold takes some entities and not others.
func partialThreshold(t *guidon.RolloutThreshold) bool {
	if t.Start == 0 && (t.Split == nil || *t.Split == guidon.Split{}) {
		return 0 < t.Percentage && t.Percentage < 100
	}
	split := guidon.Split{}
	if t.Split != nil {
		split = *t.Split
	}
	round, of := func(percentage float64) int { return int(math.Round(1000 * percentage)) }, 100_000
	switch hashOf(split, guidon.FliptHash) {
	case guidon.FliptHash:
		round, of = func(percentage float64) int { return int(math.Ceil(percentage)) }, 100
	case guidon.UnleashHash:
		round, of = func(percentage float64) int { return int(math.Floor(percentage)) }, 100
	}
	return neitherNobodyNorAll(round, t.Start, t.Percentage, of)
}

func partialPortion(p *guidon.Portion) bool {
	if p == nil {
		return false
	}
	round, of := func(percentage float64) int { return int(math.Round(1000 * percentage)) }, 100_000
	switch hashOf(p.Split, guidon.Murmur3Hash) {
	case guidon.FliptHash:
		round, of = func(percentage float64) int { return int(float32(percentage) * 10) }, 1000
	case guidon.UnleashHash:
		round, of = func(percentage float64) int { return int(math.Floor(percentage)) }, 100
	}
	return neitherNobodyNorAll(round, p.Start, p.Percentage, of)
}

func neitherNobodyNorAll(round func(float64) int, start, percentage float32, of int) bool {
	buckets := min(round(float64(start+percentage)), of) - round(float64(start))
	return 0 < buckets && buckets < of
}

func inThreshold(f *guidon.Flag, t *guidon.RolloutThreshold, id string, context map[string]string) bool {
	split := guidon.Split{}
	if t.Split != nil {
		split = *t.Split
	}
	value := valueOf(&split, id, context)
	if split.By != "" && value == "" {
		return false
	}
	hash := hashOf(split, guidon.FliptHash)
	if hash == guidon.UnleashHash {
		return inUnleash(split.Seed, f.Key, value, t.Start, t.Percentage)
	}
	bucket := float64(bucketOf(hash, split.Seed, f.Key, value, true, 0))
	start, end := float64(t.Start), float64(t.Start+t.Percentage)
	if hash != guidon.FliptHash {
		start, end = math.Round(1000*start), math.Round(1000*end)
	}
	return start <= bucket && bucket < end
}

// target returns the segments that matched, and whether the rule is for the entity. It sets
// bucketed if the id decides that.
func (o Oracle) target(
	f *guidon.Flag, keys []string, operator guidon.SegmentOperator, c *guidon.Conditions, id string, context map[string]string, bucketed *bool,
) (matched []string, ok bool) {
	if len(keys) == 0 && len(c.Groups) == 0 && !c.Everyone {
		return nil, false
	}
	matched = []string{}
	for _, key := range keys {
		g := o.segment(key)
		if g == nil {
			return nil, false
		}
		if inGroup(g.MatchType, g.Constraints, id, context) {
			matched = append(matched, key)
		}
	}
	if len(keys) > 0 && (len(matched) == 0 || operator == guidon.AndSegments && len(matched) < len(keys)) {
		return nil, false
	}
	for _, g := range c.Groups {
		if !inGroup(g.MatchType, g.Constraints, id, context) {
			return nil, false
		}
	}
	for _, key := range c.ExceptSegmentKeys {
		if g := o.segment(key); g == nil || inGroup(g.MatchType, g.Constraints, id, context) {
			return nil, false
		}
	}
	p := o.portion(c.Portion)
	if o.unmet(c.Requires, id, context, bucketed) != "" {
		return nil, false
	}
	if partialPortion(p) && p.By == "" {
		*bucketed = true
	}
	return matched, p == nil || inPortion(f, p, id, context)
}

func inPortion(f *guidon.Flag, p *guidon.Portion, id string, context map[string]string) bool {
	value := valueOf(&p.Split, id, context)
	if p.By != "" && value == "" {
		return false
	}
	hash := hashOf(p.Split, guidon.Murmur3Hash)
	if hash == guidon.UnleashHash {
		return inUnleash(p.Seed, f.Key, value, p.Start, p.Percentage)
	}
	bucket := bucketOf(hash, p.Seed, f.Key, value, false, 1)
	start, end := float64(p.Start), float64(p.Start+p.Percentage)
	if hash == guidon.FliptHash {
		return int(float32(start)*10) <= bucket && bucket < int(float32(end)*10)
	}
	return int(math.Round(1000*start)) <= bucket && bucket < int(math.Round(1000*end))
}

func hashOf(s guidon.Split, otherwise guidon.BucketHash) guidon.BucketHash {
	switch {
	case s.Hash != guidon.DefaultHash:
		return s.Hash
	case s.Seed != "":
		return guidon.Murmur3Hash
	}
	return otherwise
}

// isFine reports whether the hash has 100,000 buckets.
func isFine(hash guidon.BucketHash) bool {
	return hash != guidon.FliptHash && hash != guidon.UnleashHash
}

// inUnleash reports whether the value is in the percentage, as Unleash counts: from 1 to 100.
func inUnleash(seed, key, value string, start, percentage float32) bool {
	number := float64(unleashBucket(seed, key, value, 0, 100) + 1)
	return number > float64(start) && number <= float64(start+percentage)
}

func unleashBucket(seed, key, value string, start uint32, of uint32) int {
	return int(murmur3([]byte(cmp.Or(seed, key)+value), start) % of)
}

func valueOf(s *guidon.Split, id string, context map[string]string) string {
	if s == nil || s.By == "" {
		return id
	}
	return context[s.By]
}

func bucketOf(hash guidon.BucketHash, seed, key, value string, threshold bool, start uint32) int {
	if seed == "" {
		seed = key
	}
	if hash == guidon.Murmur3Hash {
		return int(uint64(murmur3([]byte(seed+value), start)) * 100_000 >> 32)
	}
	of, text := 1000, seed+value
	if threshold {
		of, text = 100, value+seed
	}
	h := int(crc32.ChecksumIEEE([]byte(text)))
	if hash == guidon.FliptHash {
		return h % of
	}
	return h%of*(100_000/of) + h/of%(100_000/of)
}

// murmur3 is MurmurHash3_x86_32.
func murmur3(data []byte, h uint32) uint32 {
	scramble := func(k uint32) uint32 {
		k *= 0xcc9e2d51
		k = k<<15 | k>>17
		return k * 0x1b873593
	}
	length := uint32(len(data)) // #nosec G115 -- short texts
	for ; len(data) >= 4; data = data[4:] {
		h ^= scramble(uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24)
		h = h<<13 | h>>19
		h = h*5 + 0xe6546b64
	}
	var k uint32
	for i := len(data); i > 0; i-- {
		k = k<<8 | uint32(data[i-1])
	}
	h ^= scramble(k)
	h ^= length
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}

func (o Oracle) segment(key string) *guidon.Segment {
	for _, g := range o.Segments {
		if g.Key == key {
			return g
		}
	}
	return nil
}

func inGroup(match guidon.MatchType, constraints []*guidon.Constraint, id string, context map[string]string) bool {
	held := 0
	for _, c := range constraints {
		value := context[c.Property]
		if c.Type == guidon.EntityIDComparison {
			value = id
		}
		if holds(c, value) != c.Negate {
			held++
		}
	}
	if match == guidon.MatchAny {
		return held > 0 || len(constraints) == 0
	}
	return held == len(constraints)
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
