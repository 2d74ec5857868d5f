package unleash

import (
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
	if !f.Enabled {
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
	if value == "" {
		value = chance
	}
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

// meets reports whether the user meets the constraint. One with an unknown operator is never met,
// also if it is inverted.
func (u *User) meets(c *constraint) bool {
	compare := comparisons[c.Operator]
	if compare == nil {
		return false
	}
	value, has := u.Properties[c.ContextName]
	return compare(u, c, value, has) != c.Inverted
}

var comparisons = map[string]func(u *User, c *constraint, value string, has bool) bool{
	"IN": func(_ *User, c *constraint, value string, has bool) bool {
		return has && slices.Contains(c.Values, value)
	},
	"NOT_IN": func(_ *User, c *constraint, value string, has bool) bool {
		return !has || !slices.Contains(c.Values, value)
	},

	"STR_CONTAINS":    textually(strings.Contains),
	"STR_STARTS_WITH": textually(strings.HasPrefix),
	"STR_ENDS_WITH":   textually(strings.HasSuffix),

	"NUM_EQ":  numerically(func(a, b float64) bool { return a == b }),
	"NUM_GT":  numerically(func(a, b float64) bool { return a > b }),
	"NUM_GTE": numerically(func(a, b float64) bool { return a >= b }),
	"NUM_LT":  numerically(func(a, b float64) bool { return a < b }),
	"NUM_LTE": numerically(func(a, b float64) bool { return a <= b }),

	"SEMVER_EQ":  asVersions(func(order int) bool { return order == 0 }),
	"SEMVER_GT":  asVersions(func(order int) bool { return order > 0 }),
	"SEMVER_GTE": asVersions(func(order int) bool { return order >= 0 }),
	"SEMVER_LT":  asVersions(func(order int) bool { return order < 0 }),
	"SEMVER_LTE": asVersions(func(order int) bool { return order <= 0 }),

	"DATE_AFTER":  byTime(time.Time.After),
	"DATE_BEFORE": byTime(time.Time.Before),
}

type comparison = func(u *User, c *constraint, value string, has bool) bool

func textually(compare func(text, part string) bool) comparison {
	return func(_ *User, c *constraint, value string, has bool) bool {
		fold := func(text string) string { return text }
		if c.CaseInsensitive {
			fold = strings.ToLower
		}
		value = fold(value)
		return has && slices.ContainsFunc(c.Values, func(part string) bool { return compare(value, fold(part)) })
	}
}

func numerically(compare func(a, b float64) bool) comparison {
	return func(_ *User, c *constraint, value string, has bool) bool {
		a, errA := strconv.ParseFloat(value, 64)
		b, errB := strconv.ParseFloat(string(c.Value), 64)
		return has && errA == nil && errB == nil && compare(a, b)
	}
}

func asVersions(holds func(order int) bool) comparison {
	return func(_ *User, c *constraint, value string, has bool) bool {
		a, errA := guidon.ParseVersion(value)
		b, errB := guidon.ParseVersion(string(c.Value))
		whole := strings.Count(strings.SplitN(value, "-", 2)[0], ".") >= 2 && !strings.HasPrefix(value, "v")
		return has && whole && errA == nil && errB == nil && holds(a.Compare(b))
	}
}

func byTime(compare func(a, b time.Time) bool) comparison {
	return func(u *User, c *constraint, _ string, _ bool) bool {
		at, err := time.Parse(time.RFC3339, string(c.Value))
		return err == nil && compare(u.At, at)
	}
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
