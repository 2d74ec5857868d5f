package conflict

import (
	"strconv"
	"strings"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/valuewords"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// partName returns the name of a part from the names of those that contain it and its own, such
// as "step 2" and "share". It adds what a step, rule or condition is about; their numbers are
// those of the lists.
func (p *Page) partName(names []string, of Parts) string {
	if len(names) == 0 {
		return "The whole " + p.Noun
	}
	first := names[0]
	if about := p.about(first, of); about != "" {
		first += ", " + about
	}
	return page.Capital(page.Printable(strings.Join(append([]string{first}, names[1:]...), ": "), valuewords.Max))
}

// conflictName returns the name of the part that a conflict is about.
func (p *Page) conflictName(c *guidonv1.MergeConflict) string {
	if c.GetPath() == change.Whole {
		return p.partName(nil, Parts{})
	}
	first, rest, inside := strings.Cut(c.GetName(), ": ")
	if !inside {
		return p.partName([]string{first}, p.Earlier)
	}
	return p.partName([]string{first, rest}, p.Earlier)
}

// Parts are the lists of a flag or segment.
type Parts struct {
	Rules      []*guidonv1.DocumentRule
	Rollouts   []*guidonv1.DocumentRollout
	Conditions []*guidonv1.DocumentConstraint
}

// FlagParts returns the lists of a flag.
func FlagParts(f *guidonv1.DocumentFlag) Parts {
	return Parts{Rules: f.GetRules(), Rollouts: f.GetRollouts()}
}

// SegmentParts returns the lists of a segment.
func SegmentParts(g *guidonv1.DocumentSegment) Parts { return Parts{Conditions: g.GetConstraints()} }

// about returns who the part with the name, such as "rule 2", is for, or which property it is
// about; "" if that is not known.
func (p *Page) about(name string, of Parts) string {
	noun, number, _ := strings.Cut(name, " ")
	n, err := strconv.Atoi(number)
	var keys []string
	switch i := n - 1; {
	case err != nil || i < 0:
	case noun == "rule" && i < len(of.Rules):
		keys = of.Rules[i].GetSegmentKeys()
	case noun == "step" && i < len(of.Rollouts):
		keys = of.Rollouts[i].GetSegment().GetSegmentKeys()
	case noun == "condition" && i < len(of.Conditions):
		return valuewords.Shortened(of.Conditions[i].GetProperty())
	}
	return valuewords.Shortened(strings.Join(p.SegmentNames(keys), ", "))
}

// changedPart is a part that one side alone has changed.
type changedPart struct{ what, was, now, by string }

// changedParts returns the differences of one side in words.
func (p *Page) changedParts(all []*guidonv1.FieldDifference, by string) (parts []changedPart) {
	for _, d := range all {
		parts = append(parts, p.changedPart(d, by))
	}
	return parts
}

func (p *Page) changedPart(d *guidonv1.FieldDifference, by string) changedPart {
	c := changedPart{by: by, was: p.Value(d.GetPath(), d.GetBefore()), now: p.Value(d.GetPath(), d.GetAfter())}
	of := p.Result // whose paths it has, as long as there are no conflicts
	if len(p.Details.GetConflicts()) > 0 {
		of = Parts{}
	}
	switch change.Op(d.GetOp()) {
	case change.OpAdd:
		c.was = ""
		if c.now == "" {
			c.now = page.Capital(d.GetWording().GetWhat())
		}
	case change.OpRemove:
		c.now, of = "Removed", Parts{}
	case change.OpMove:
		c.now, of = "Moved to place "+strconv.Itoa(int(d.GetTo())), Parts{}
	}
	if d.GetPath() == change.Whole {
		c.now = page.Capital(d.GetWording().GetWhat())
	}
	c.what = p.partName(d.GetWording().GetParts(), of)
	return c
}
