package evaluation

import (
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

func (w *explanation) others() []*guidonv1.OtherResult {
	others := make([]*guidonv1.OtherResult, len(w.e.Others))
	for i := range w.e.Others {
		o := &w.e.Others[i]
		others[i] = &guidonv1.OtherResult{
			Match: o.Match, VariantKey: o.VariantKey, Enabled: o.Enabled,
			Verdict: string(o.Verdict), Text: w.otherText(o), Smallest: o.Smallest,
			Changes: w.changes(o), Obstacles: w.obstacles(o),
		}
		if o.Verdict == analysis.Reachable {
			others[i].Step = number(o.Step)
		}
	}
	return others
}

func (w *explanation) changes(o *analysis.OtherResult) []*guidonv1.PropertyChange {
	changes := make([]*guidonv1.PropertyChange, len(o.Changes))
	for i := range o.Changes {
		c := &o.Changes[i]
		changes[i] = &guidonv1.PropertyChange{Property: short(c.Property), Actual: short(c.Actual), Example: short(c.Example)}
		if !w.take(len(c.Outcomes)) {
			w.cut = true
			continue
		}
		for _, outcome := range c.Outcomes {
			changes[i].Outcomes = append(changes[i].Outcomes, &guidonv1.OutcomeChange{
				SegmentKey: outcome.SegmentKey, ConstraintId: outcome.Constraint.ID, Operator: outcome.Constraint.Operator,
				Expected: short(outcome.Constraint.Value), Match: outcome.Match, Negate: outcome.Constraint.Negate,
			})
		}
	}
	return changes
}

func (w *explanation) obstacles(o *analysis.OtherResult) []*guidonv1.Obstacle {
	obstacles := make([]*guidonv1.Obstacle, len(o.Obstacles))
	for i := range o.Obstacles {
		b := &o.Obstacles[i]
		obstacles[i] = &guidonv1.Obstacle{
			Step: number(b.Step), Reason: string(b.Reason), By: number(b.By),
			FlagKey: b.FlagKey, SegmentKey: b.SegmentKey, Property: short(b.Property), Text: w.obstacleText(b),
		}
	}
	return obstacles
}
