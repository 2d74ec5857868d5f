package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
)

// WarningKind is the kind of a warning of a plan.
type WarningKind string

// Kinds of warnings.
const (
	WarnSegmentShared   WarningKind = "segment-shared"   // a segment changes that flags outside of the plan use
	WarnMatchesEveryone WarningKind = "matches-everyone" // a segment has no constraints
	WarnGoesOff         WarningKind = "goes-off"         // an enabled flag becomes disabled, or is deleted
	WarnVariantServed   WarningKind = "variant-served"   // a variant disappears that a rule serves
)

// Warning is a consequence of a plan that is easily overlooked.
type Warning struct {
	Kind   WarningKind
	Object Kind     // KindFlag or KindSegment
	Key    string   // of the flag or segment
	Flags  []string // keys of the flags outside of the plan that use the segment, in creation order
	Text   string   // in words of the API

	says func(v analysis.Vocabulary) string
}

// In returns the text in the words of the vocabulary.
func (w *Warning) In(v analysis.Vocabulary) string { return w.says(v) }

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
	users := map[string][]string{}
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Kind == KindSegment && c.Action == ActionUpdate {
			users[c.Key] = nil
		}
	}
	if len(users) == 0 {
		return nil
	}
	planned := map[string]bool{}
	for i := range p.Changes {
		if c := &p.Changes[i]; c.Kind == KindFlag {
			planned[c.Key] = true
		}
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
		p.addWarning(Warning{Kind: WarnSegmentShared, Object: KindSegment, Key: c.Key, Flags: users}, func(analysis.Vocabulary) string {
			return fmt.Sprintf("segment %s changes, and other flags use it: %s", quote(c.Key), someKeys(users))
		})
	}
	if after := only(c.After.Segments); after != nil && len(after.Constraints) == 0 {
		p.addWarning(Warning{Kind: WarnMatchesEveryone, Object: KindSegment, Key: c.Key}, func(v analysis.Vocabulary) string {
			return fmt.Sprintf("segment %s has no %s, so it matches everyone", quote(c.Key), v.Pick("constraints", "conditions"))
		})
	}
}

func (p *planBuilder) warnOfFlag(key string, before, after *guidon.Flag) {
	switch {
	case before == nil:
		return
	case after == nil:
		if before.Enabled {
			p.warnOff(key, "is enabled, and is deleted", before, "gives everyone else on, and is deleted", "is on, and is deleted")
		}
		return
	case before.Enabled && !after.Enabled:
		p.warnOff(key, "goes off", after, "gives everyone else off instead of on", "is switched off")
	}
	for _, v := range before.Variants {
		if after.VariantByKey(v.Key) != nil {
			continue
		}
		if by := servedBy(before, v); by != (term{}) {
			p.addWarning(Warning{Kind: WarnVariantServed, Object: KindFlag, Key: key}, func(words analysis.Vocabulary) string {
				return fmt.Sprintf("flag %s: variant %s disappears, which %s", quote(key), quote(v.Key), by.in(words))
			})
		}
	}
}

// warnOff adds the warning that a flag goes off: as the API says it and, by the type of f, as
// pages say it of boolean and of variant flags.
func (p *planBuilder) warnOff(key, api string, f *guidon.Flag, boolean, variant string) {
	page := variant
	if f.Type == guidon.BooleanFlag {
		page = boolean
	}
	p.addWarning(Warning{Kind: WarnGoesOff, Object: KindFlag, Key: key}, func(v analysis.Vocabulary) string {
		return fmt.Sprintf("flag %s %s", quote(key), v.Pick(api, page))
	})
}

func (p *planBuilder) addWarning(w Warning, says func(v analysis.Vocabulary) string) {
	w.Text, w.says = says(analysis.APIWords), says
	p.Warnings = append(p.Warnings, w)
}

// servedBy names in words the rule or default that serves the variant. It returns an empty
// term if there is none.
func servedBy(f *guidon.Flag, v *guidon.Variant) term {
	for i, r := range f.Rules {
		for _, d := range r.Distributions {
			if d.VariantID == v.ID && d.Rollout > 0 {
				return word(fmt.Sprintf("rule %d serves", i+1))
			}
		}
	}
	if f.DefaultVariantID == v.ID {
		return term{"is the default", "everyone else gets"}
	}
	return term{}
}

// someKeys returns the first keys, and how many there are besides.
func someKeys(keys []string) string {
	const shown = 5
	words := make([]string, 0, shown)
	for _, key := range keys[:min(shown, len(keys))] {
		words = append(words, bare(key))
	}
	text := strings.Join(words, ", ")
	if more := len(keys) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
