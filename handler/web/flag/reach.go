package flag

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// note is a sentence about a rule or about everyone else.
type note struct{ kind, icon, text string }

// maxWhy limits the reason why a rule is never reached, in bytes.
const maxWhy = 600

// remarks turns the analysis of a flag or a draft into notes. A nil reach has none.
type remarks struct {
	draft *draft
	reach *guidonv1.FlagReach
}

// of returns the notes about a rule.
func (r remarks) of(i int) (notes []note) {
	if r.reach == nil || i >= len(r.reach.GetSteps()) {
		return nil
	}
	s := r.reach.GetSteps()[i]
	if s.GetFails() {
		notes = append(notes, note{"bad", "warning", "Evaluating this rule fails: a constraint of its segments has an unknown type."})
	}
	if why := s.GetWhy(); why != "" {
		n := note{"", "info", "Never reached: " + page.Printable(why, maxWhy) + "."}
		switch s.GetCause() {
		case guidonv1.ReachCause_UNSATISFIABLE_REACH_CAUSE:
			n.kind, n.icon = "warn", "warning"
		case guidonv1.ReachCause_MISSING_SEGMENT_REACH_CAUSE:
			n.kind, n.icon = "bad", "warning"
		case guidonv1.ReachCause_NO_BUCKETS_REACH_CAUSE:
			if r.draft.rules[i].Ramp != nil {
				n.text = "For nobody now: " + page.Printable(why, maxWhy) + "."
			}
		case guidonv1.ReachCause_NEVER_MET_REACH_CAUSE:
			n.text = "Not reached now: flag " + page.Printable(s.GetUnmetFlag(), maxWhy) + " gives nobody the answer that this needs."
		case guidonv1.ReachCause_NOT_YET_REACH_CAUSE:
			n.text = "Not yet in force."
		case guidonv1.ReachCause_ENDED_REACH_CAUSE:
			n.text = "Ended: no longer in force."
		}
		return append(notes, n)
	}
	switch {
	case r.draft.rules[i].Code, r.draft.boolean && r.draft.rules[i].Ramp != nil: // which is at this percentage for a short time
		return notes
	case r.draft.boolean:
		return append(notes, wholePercents(s)...)
	}
	return append(notes, r.shares(s)...)
}

// wholePercents returns the note about a share of a boolean flag that is rounded.
func wholePercents(s *guidonv1.StepReach) (notes []note) {
	for _, part := range s.GetShares() {
		if part.GetRounded() {
			notes = append(notes, note{
				"", "info",
				"In effect " + page.Percent(float64(part.GetGivenPercentage())) + ": shares of boolean flags count in whole percents.",
			})
		}
	}
	return notes
}

// shares returns the notes about the shares of a rule.
func (r remarks) shares(s *guidonv1.StepReach) (notes []note) {
	for _, part := range s.GetShares() {
		switch part.GetCause() {
		case guidonv1.ShareCause_BELOW_ONE_BUCKET_SHARE_CAUSE:
			notes = append(notes, note{"warn", "warning", "Nobody gets " + part.GetVariantKey() + ": shares count in tenths of a percent."})
		case guidonv1.ShareCause_BEYOND_THE_END_SHARE_CAUSE:
			notes = append(notes, note{"warn", "warning", "Nobody gets " + part.GetVariantKey() + ": the shares before it are 100% already."})
		case guidonv1.ShareCause_LOST_VARIANT_SHARE_CAUSE:
			notes = append(notes, note{"warn", "warning", page.Percent(float64(part.GetPercentage())) + " are for a variant that does not exist."})
		}
	}
	if rest := s.GetUnassignedBuckets(); rest > 0 {
		notes = append(notes, note{
			"", "info", "The other " + bucketShare(rest, r.reach.GetBuckets()) + " get " + r.rest() + ": later rules are not tried.",
		})
	}
	return notes
}

// rest returns the result of entities to which a rule gives nothing.
func (r remarks) rest() string {
	return cmp.Or(r.draft.other, "no variant")
}

func bucketShare(buckets, of int32) string {
	return page.Percent(float64(buckets) * 100 / float64(max(of, 1)))
}

// other returns the note about everyone else, if no entity is left.
func (r remarks) other() (notes []note) {
	d := r.reach.GetDefault()
	if d.GetCause() != guidonv1.ReachCause_SHADOWED_REACH_CAUSE {
		return nil
	}
	why := page.Capital(page.Printable(d.GetWhy(), maxWhy))
	if r.draft.boolean {
		return []note{{"", "info", why + ", so this is never used."}}
	}
	return []note{{"", "info", why + ", so the default is for the time when the flag is off."}}
}

// outside returns the results of entities that are only in segments without constraints.
func (r remarks) outside() []part.Share {
	unsure := func(s rule) bool { return len(s.Requires) > 0 && s.isForEveryone() }
	if len(r.draft.Requires) > 0 || slices.ContainsFunc(r.draft.rules, unsure) {
		return nil
	}
	return page.SharesOf(!r.draft.boolean, r.reach.GetEveryoneElse())
}

// color returns the colour of an outcome.
func (d *draft) color(outcome string) string {
	switch {
	case d.boolean && outcome == "on":
		return "c-on"
	case d.boolean:
		return "c-off"
	case outcome == "":
		return "c-none"
	}
	return part.VariantColor(variantIndex(d.base, outcome))
}
