package fliptdbtest

import (
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Result is the result of an evaluation in Flipt. For a boolean flag, Match is the value.
type Result struct {
	Match      bool
	Reason     string // UNKNOWN, DEFAULT, MATCH, FLAG_DISABLED
	Variant    string
	Attachment string
	Segments   []string // sorted, because Flipt does not define their order
}

// Evaluate evaluates the flag from the rows. It follows contract 7 literally.
func (d *Data) Evaluate(namespace, flag, entity string, context map[string]string) Result {
	at := slices.IndexFunc(d.Flags, func(f Flag) bool { return f.Namespace == namespace && f.Key == flag })
	e := evaluation{d, d.Flags[at], entity, context}
	if e.flag.Type == 1 {
		return e.boolean()
	}
	return e.variant()
}

type evaluation struct {
	*Data
	flag    Flag
	entity  string
	context map[string]string
}

// variant follows contract 7.5. The numbers are those of its steps.
func (e evaluation) variant() Result {
	result := Result{Reason: "UNKNOWN"} // 2
	var fallback Variant
	if e.flag.Default != "" {
		fallback = e.variantByID(e.flag.Default)
		result = Result{Reason: "DEFAULT", Variant: fallback.Key, Attachment: fallback.Attachment}
	}
	if !e.flag.Enabled { // 3
		result.Reason = "FLAG_DISABLED"
		return result
	}
	rules := slices.DeleteFunc(slices.Clone(e.Rules), func(r Rule) bool { return r.Namespace != e.flag.Namespace || r.Flag != e.flag.Key })
	slices.SortFunc(rules, func(a, b Rule) int { return a.Rank - b.Rank })
	for _, r := range rules { // 5
		matched := e.set(e.RuleSegments, r.ID, r.Operator)
		if matched == nil {
			continue
		}
		result.Segments = matched // 5.1
		shares := slices.DeleteFunc(slices.Clone(e.Distributions), func(d Distribution) bool { return d.Rule != r.ID || d.Rollout <= 0 })
		slices.SortFunc(shares, func(a, b Distribution) int { return a.Created.Compare(b.Created) }) // 5.2
		if len(shares) == 0 {                                                                        // 5.3
			result.Match, result.Reason = true, "MATCH"
			return result
		}
		bucket := int(crc32.ChecksumIEEE([]byte(e.flag.Key+e.entity)) % 1000) // 5.5
		end := 0
		for _, share := range shares {
			end += int(share.Rollout * 10) // 5.4
			if end > bucket {              // 5.6
				v := e.variantByID(share.Variant)
				return Result{Match: true, Reason: "MATCH", Variant: v.Key, Attachment: v.Attachment, Segments: matched}
			}
		}
		return result // 5.8
	}
	return result
}

func (e evaluation) variantByID(id string) Variant {
	return e.Variants[slices.IndexFunc(e.Variants, func(v Variant) bool { return v.ID == id })]
}

// boolean follows contract 7.6.
func (e evaluation) boolean() Result {
	rollouts := slices.DeleteFunc(slices.Clone(e.Rollouts),
		func(r Rollout) bool { return r.Namespace != e.flag.Namespace || r.Flag != e.flag.Key })
	slices.SortFunc(rollouts, func(a, b Rollout) int { return a.Rank - b.Rank })
	for _, r := range rollouts {
		for _, t := range e.Thresholds {
			if t.Rollout == r.ID && float32(crc32.ChecksumIEEE([]byte(e.entity+e.flag.Key))%100) < t.Percentage {
				return Result{Match: t.Value, Reason: "MATCH"}
			}
		}
		for _, s := range e.RolloutSegments {
			if s.Rollout != r.ID {
				continue
			}
			if matched := e.set(e.RolloutRefs, s.ID, s.Operator); matched != nil {
				return Result{Match: s.Value, Reason: "MATCH", Segments: matched}
			}
		}
	}
	return Result{Match: e.flag.Enabled, Reason: "DEFAULT"}
}

// set follows contract 7.4. It returns nil if the set does not match.
func (e evaluation) set(references []Reference, owner string, operator int) []string {
	var matched []string
	total := 0
	for _, r := range references {
		if r.Owner != owner {
			continue
		}
		total++
		if e.segment(r.Namespace, r.Segment) {
			matched = append(matched, r.Segment)
		}
	}
	if operator == 1 && total > 1 && len(matched) < total {
		return nil
	}
	slices.Sort(matched)
	return matched
}

// segment follows contract 7.3.
func (e evaluation) segment(namespace, key string) bool {
	at := slices.IndexFunc(e.Segments, func(s Segment) bool { return s.Namespace == namespace && s.Key == key })
	total, matching := 0, 0
	for _, c := range e.Constraints {
		if c.Namespace == namespace && c.Segment == key {
			total++
			if e.constraint(c) {
				matching++
			}
		}
	}
	if e.Segments[at].MatchType == 1 {
		return matching > 0 || total == 0
	}
	return matching == total
}

// constraint follows contract 7.2.
func (e evaluation) constraint(c Constraint) bool {
	v := e.context[c.Property]
	trimmed := strings.TrimSpace(v)
	switch c.Type {
	case 1:
		return ofText(c, v)
	case 5:
		return ofText(c, e.entity)
	}
	switch c.Operator {
	case "present":
		return trimmed != ""
	case "notpresent":
		return trimmed == ""
	}
	if v == "" {
		return false
	}
	switch c.Type {
	case 2:
		return ofNumber(c, v)
	case 3:
		b, err := strconv.ParseBool(v)
		return err == nil && (c.Operator == "true" && b || c.Operator == "false" && !b)
	case 4:
		got, err := date(v)
		if err != nil {
			return false
		}
		want, err := date(c.Value)
		return err == nil && compared(c.Operator, got.Compare(want))
	}
	return false
}

func ofText(c Constraint, v string) bool {
	trimmed := strings.TrimSpace(v)
	switch {
	case c.Operator == "empty":
		return trimmed == ""
	case c.Operator == "notempty":
		return trimmed != ""
	case v == "":
		return false
	}
	switch c.Operator {
	case "eq":
		return v == c.Value
	case "neq":
		return v != c.Value
	case "prefix":
		return strings.HasPrefix(trimmed, c.Value)
	case "suffix":
		return strings.HasSuffix(trimmed, c.Value)
	case "contains":
		return strings.Contains(v, c.Value)
	case "notcontains":
		return !strings.Contains(v, c.Value)
	case "isoneof", "isnotoneof":
		var list []string
		err := json.Unmarshal([]byte(c.Value), &list)
		return err == nil && slices.Contains(list, v) == (c.Operator == "isoneof")
	}
	return false
}

func ofNumber(c Constraint, v string) bool {
	got, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return false
	}
	if c.Operator == "isoneof" || c.Operator == "isnotoneof" {
		var list []float64
		err := json.Unmarshal([]byte(c.Value), &list)
		return err == nil && slices.Contains(list, got) == (c.Operator == "isoneof")
	}
	want, err := strconv.ParseFloat(c.Value, 64)
	if err != nil {
		return false
	}
	switch c.Operator { // not by compared, because of NaN
	case "eq":
		return got == want
	case "neq":
		return got != want
	case "lt":
		return got < want
	case "lte":
		return got <= want
	case "gt":
		return got > want
	case "gte":
		return got >= want
	}
	return false
}

func date(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	return time.Parse(time.DateOnly, text)
}

func compared(operator string, n int) bool {
	switch operator {
	case "eq":
		return n == 0
	case "neq":
		return n != 0
	case "lt":
		return n < 0
	case "lte":
		return n <= 0
	case "gt":
		return n > 0
	case "gte":
		return n >= 0
	}
	return false
}
