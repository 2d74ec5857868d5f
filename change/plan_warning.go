package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/lists"
)

// WarningKind is the kind of a warning of a plan.
type WarningKind string

// Kinds of warnings.
const (
	WarnSegmentShared   WarningKind = "segment-shared"   // a segment changes that flags outside of the plan use
	WarnMatchesEveryone WarningKind = "matches-everyone" // a segment has no constraints
	WarnGoesOff         WarningKind = "goes-off"         // an enabled flag becomes disabled, or is deleted
	WarnVariantServed   WarningKind = "variant-served"   // a variant disappears that a rule serves
	WarnServerOnly      WarningKind = "server-only"      // client-side snapshots no longer have a flag; of package service
)

// Warning is a consequence of a plan that is easily overlooked.
type Warning struct {
	Kind   WarningKind
	Object Kind     // KindFlag or KindSegment
	Key    string   // of the flag or segment
	Flags  []string // keys of the flags outside of the plan that use the segment, in creation order
	Text   string   // the warning in words
}

// warn adds the warnings of all changes. flags are those of the base.
func (p *planBuilder) warn(flags []*guidon.Flag) {
	users := p.otherUsers(flags)
	for i := range p.Changes {
		c := &p.Changes[i]
		switch c.Kind {
		case KindSegment:
			p.warnOfSegment(c, users[c.Key])
		case KindFlag:
			p.warnOfFlag(c.Key, only(c.Before.Flags), only(c.After.Flags))
		}
	}
}

// only returns the single item of the list, or nil.
func only[T any](list []*T) *T {
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// otherUsers returns the flags that the plan leaves alone, by the segments that the plan
// updates and they refer to.
func (p *planBuilder) otherUsers(flags []*guidon.Flag) map[string][]string {
	users, planned := map[string][]string{}, map[string]bool{}
	for i := range p.Changes {
		switch c := &p.Changes[i]; {
		case c.Kind == KindSegment && c.Action == ActionUpdate:
			users[c.Key] = nil
		case c.Kind == KindFlag:
			planned[c.Key] = true
		}
	}
	if len(users) == 0 {
		return nil
	}
	for _, f := range flags {
		if planned[f.Key] {
			continue
		}
		for key := range f.SegmentKeys() {
			if list, updated := users[key]; updated && !slices.Contains(list[max(0, len(list)-1):], f.Key) {
				users[key] = append(list, f.Key)
			}
		}
	}
	return users
}

func (p *planBuilder) warnOfSegment(c *PlannedChange, users []string) {
	if len(users) > 0 {
		p.addWarning(Warning{
			Kind: WarnSegmentShared, Object: KindSegment, Key: c.Key, Flags: users,
			Text: fmt.Sprintf("segment %s changes, and other flags use it: %s", quote(c.Key), someKeys(users)),
		})
	}
	if after := only(c.After.Segments); after != nil && len(after.Constraints) == 0 {
		p.addWarning(Warning{
			Kind: WarnMatchesEveryone, Object: KindSegment, Key: c.Key,
			Text: fmt.Sprintf("segment %s has no constraints, so it matches everyone", quote(c.Key)),
		})
	}
}

func (p *planBuilder) warnOfFlag(key string, before, after *guidon.Flag) {
	switch {
	case before == nil:
		return
	case after == nil:
		if before.Enabled {
			p.warnOff(key, before, "is on, and is deleted", "is on by default, and is deleted")
		}
		return
	case before.Enabled && !after.Enabled:
		p.warnOff(key, after, "goes off", "goes off by default")
	}
	for _, v := range before.Variants {
		if after.VariantByKey(v.Key) != nil {
			continue
		}
		if by := servedBy(before, v); by != "" {
			p.addWarning(Warning{
				Kind: WarnVariantServed, Object: KindFlag, Key: key,
				Text: fmt.Sprintf("flag %s: variant %s disappears, which %s", quote(key), quote(v.Key), by),
			})
		}
	}
}

// warnOff adds the warning that the flag f goes off, in words for a variant flag and for a
// boolean flag, whose rules may give another value.
func (p *planBuilder) warnOff(key string, f *guidon.Flag, variant, boolean string) {
	what := variant
	if f.Type == guidon.BooleanFlag {
		what = boolean
	}
	p.addWarning(Warning{Kind: WarnGoesOff, Object: KindFlag, Key: key, Text: fmt.Sprintf("flag %s %s", quote(key), what)})
}

func (p *planBuilder) addWarning(w Warning) { p.Warnings = append(p.Warnings, w) }

// servedBy names in words the rule or default that serves the variant. It returns "" if
// nothing does.
func servedBy(f *guidon.Flag, v *guidon.Variant) string {
	for i, r := range f.Rules {
		for _, d := range r.Distributions {
			if d.VariantID == v.ID && d.Rollout > 0 {
				return fmt.Sprintf("rule %d serves", i+1)
			}
		}
	}
	if f.DefaultVariantID == v.ID {
		return "is the default variant"
	}
	return ""
}

// someKeys returns the first keys, and how many there are besides.
func someKeys(keys []string) string {
	const shown = 5
	text := strings.Join(lists.Map(keys[:min(shown, len(keys))], bare), ", ")
	if more := len(keys) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
