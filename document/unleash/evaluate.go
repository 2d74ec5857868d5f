package unleash

import (
	"cmp"
	"math"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// Answer is the result of an evaluation.
type Answer struct {
	Enabled bool   `json:"enabled"`
	Variant string `json:"variant,omitempty"` // empty if there is none
}

// User is for whom a feature is evaluated.
type User struct {
	Properties map[string]string // of Unleash's context, with userId; an absent one is missing, not empty
	At         time.Time
}

// Evaluate evaluates the feature by Unleash's published algorithm. Where that decides by chance,
// it decides for a fixed value.
func (e *Environment) Evaluate(f *Feature, u *User) Answer {
	if !f.Enabled || !e.satisfied(f, u) {
		return Answer{}
	}
	if len(f.Strategies) == 0 {
		return Answer{true, u.choose(f.Variants, f.Name, "")}
	}
	for i := range f.Strategies {
		s := &f.Strategies[i]
		if s.Disabled || !e.applies(s, u) {
			continue
		}
		if len(s.Variants) == 0 {
			return Answer{true, u.choose(f.Variants, f.Name, "")}
		}
		return Answer{true, u.choose(s.Variants, string(s.Parameters["groupId"]), string(s.Parameters["stickiness"]))}
	}
	return Answer{}
}

// applies reports whether the strategy is for the user.
func (e *Environment) applies(s *strategy, u *User) bool {
	if !u.meet(s.Constraints) {
		return false
	}
	for _, id := range s.Segments {
		g := e.segments[id]
		if g == nil || g.Constraints == nil || !u.meet(*g.Constraints) {
			return false
		}
	}
	switch s.Name {
	case "default":
		return true
	case "flexibleRollout":
		return u.within(s.Parameters["rollout"], string(s.Parameters["groupId"]), u.sticky(string(s.Parameters["stickiness"])))
	case "gradualRolloutUserId":
		return u.within(s.Parameters["percentage"], string(s.Parameters["groupId"]), u.Properties[userID])
	case "gradualRolloutSessionId":
		return u.within(s.Parameters["percentage"], string(s.Parameters["groupId"]), u.Properties["sessionId"])
	case "userWithId":
		return slices.Contains(s.list("userIds"), u.Properties[userID])
	case "remoteAddress":
		return slices.ContainsFunc(s.list("IPs"), func(block string) bool { return inBlock(u.Properties["remoteAddress"], block) })
	}
	return false
}

// chance is the value for which a random decision is made.
const chance = "1"

// sticky returns the value that decides whether the user is in a percentage, or "".
func (u *User) sticky(stickiness string) string {
	switch stickiness {
	case "", "default":
		for _, property := range []string{userID, "sessionId"} {
			if value := u.Properties[property]; value != "" {
				return value
			}
		}
		return chance
	case "random":
		return chance
	}
	return u.Properties[stickiness]
}

// within reports whether the value is in the percentage of the group.
func (u *User) within(percentage text, group, value string) bool {
	n, err := strconv.ParseFloat(string(percentage), 64)
	return err == nil && value != "" && n > 0 && float64(bucket(0, group, value, 100)) <= n
}

// variantsStart is the number with which the hash for variants starts.
const variantsStart = 86028157

// choose returns the name of the variant for the user, or "" if there is none.
func (u *User) choose(variants []variant, group, stickiness string) string {
	total := 0
	for _, v := range variants {
		total += int(v.Weight)
	}
	if total <= 0 {
		return ""
	}
	for _, v := range variants {
		if slices.ContainsFunc(v.Overrides, u.overridden) {
			return v.Name
		}
	}
	if own := variants[0].Stickiness; own != "" {
		stickiness = own
	}
	value := u.Properties[stickiness]
	if stickiness == "" || stickiness == "default" {
		value = u.sticky("")
		if address := u.Properties["remoteAddress"]; value == chance && address != "" {
			value = address
		}
	}
	value = cmp.Or(value, chance)
	target, sum := bucket(variantsStart, group, value, total), 0
	for _, v := range variants {
		if sum += int(v.Weight); v.Weight > 0 && sum >= target {
			return v.Name
		}
	}
	return ""
}

func (u *User) overridden(o override) bool {
	value, has := u.Properties[o.ContextName]
	return has && slices.Contains(o.Values, value)
}

func (u *User) meet(constraints []constraint) bool {
	for i := range constraints {
		if !u.meets(&constraints[i]) {
			return false
		}
	}
	return true
}

// operators are those that Unleash specifies for all SDKs.
var operators = strings.Fields("IN NOT_IN STR_CONTAINS STR_STARTS_WITH STR_ENDS_WITH DATE_AFTER DATE_BEFORE " +
	"NUM_EQ NUM_GT NUM_GTE NUM_LT NUM_LTE SEMVER_EQ SEMVER_GT SEMVER_GTE SEMVER_LT SEMVER_LTE")

// meets reports whether the user meets the constraint. One with an unknown operator is never met,
// also if it is inverted.
func (u *User) meets(c *constraint) bool {
	if !slices.Contains(operators, c.Operator) {
		return false
	}
	value, has := u.Properties[c.ContextName]
	kind, operator, _ := strings.Cut(c.Operator, "_")
	met := false
	switch kind {
	case "IN":
		met = has && slices.Contains(c.Values, value)
	case "NOT":
		met = !has || !slices.Contains(c.Values, value)
	case "DATE":
		at, err := time.Parse(time.RFC3339, string(c.Value))
		met = err == nil && (operator == "AFTER" && u.At.After(at) || operator == "BEFORE" && u.At.Before(at))
	case "STR":
		met = has && c.hasPart(operator, value)
	case "NUM":
		a, errA := strconv.ParseFloat(value, 64)
		b, errB := strconv.ParseFloat(string(c.Value), 64)
		met = errA == nil && errB == nil && !math.IsNaN(a) && isOrdered(cmp.Compare(a, b), operator)
	case "SEMVER":
		a, errA := guidon.ParseVersion(value)
		b, errB := guidon.ParseVersion(string(c.Value))
		core, _, _ := strings.Cut(value, "-")
		whole := strings.Count(core, ".") >= 2 && !strings.HasPrefix(value, "v")
		met = whole && errA == nil && errB == nil && isOrdered(a.Compare(b), operator)
	}
	return met != c.Inverted
}

// hasPart reports whether a value of the constraint is at the place in the text that the operator
// says.
func (c *constraint) hasPart(operator, text string) bool {
	fold := func(text string) string { return text }
	if c.CaseInsensitive {
		fold = strings.ToLower
	}
	compare := map[string]func(text, part string) bool{
		"CONTAINS": strings.Contains, "STARTS_WITH": strings.HasPrefix, "ENDS_WITH": strings.HasSuffix,
	}[operator]
	text = fold(text)
	return slices.ContainsFunc(c.Values, func(part string) bool { return compare(text, fold(part)) })
}

// isOrdered reports whether the operator holds for the result of a comparison.
func isOrdered(order int, operator string) bool {
	switch operator {
	case "EQ":
		return order == 0
	case "GT":
		return order > 0
	case "GTE":
		return order >= 0
	case "LT":
		return order < 0
	}
	return order <= 0
}

// inBlock reports whether the address is the other one, or in the IPv4 block.
func inBlock(address, block string) bool {
	if address == block {
		return true
	}
	a, errA := netip.ParseAddr(address)
	b, errB := netip.ParsePrefix(block)
	return errA == nil && errB == nil && a.Is4() && b.Contains(a)
}

// bucket returns the number of the value among as many as of, from 1.
func bucket(start uint32, group, value string, of int) int {
	return int(murmur3(start, []byte(group+":"+value))%uint32(of)) + 1 // #nosec G115 -- a total weight
}

// murmur3 is MurmurHash3_x86_32, apart from the engine's own.
func murmur3(h uint32, data []byte) uint32 {
	length := len(data)
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		h = bits.RotateLeft32(h^mix(k), 13)*5 + 0xe6546b64
	}
	tail := uint32(0)
	for i, b := range data {
		tail |= uint32(b) << (8 * i)
	}
	h ^= mix(tail) ^ uint32(length) // #nosec G115 -- as the algorithm does
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
