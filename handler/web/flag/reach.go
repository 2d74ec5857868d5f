package flag

import (
	"cmp"
	"slices"

	"github.com/guidonhq/guidon/change"
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
	draft    *draft
	reach    *guidonv1.FlagReach
	segments segments
	summary  *guidonv1.FlagSummary // of a flag that requires others, whose answers decide too
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

// state returns whether the flag is on.
func (r remarks) state() part.State {
	switch {
	case r.summary != nil:
		return page.StateOf(r.summary.GetState())
	case !r.draft.boolean && r.draft.base.GetEnabled():
		return part.On
	case !r.draft.boolean:
		return part.Off
	}
	values := map[bool]bool{}
	for i, s := range r.reach.GetSteps() {
		if s.GetCause() == guidonv1.ReachCause_REACHED_REACH_CAUSE && i < len(r.draft.rules) {
			values[r.draft.rules[i].value] = true
		}
	}
	if r.reach == nil || r.reach.GetDefault().GetCause() == guidonv1.ReachCause_REACHED_REACH_CAUSE {
		values[r.draft.other == "on"] = true
	}
	switch {
	case values[true] && values[false]:
		return part.Partly
	case values[true]:
		return part.On
	}
	return part.Off
}

// outside returns the results of entities that are only in segments without constraints.
func (r remarks) outside() []part.Share {
	if r.reach == nil || len(r.draft.Requires) > 0 || slices.ContainsFunc(r.draft.rules, r.dividesOtherwise) {
		return nil
	}
	totals := newTotals(r.draft)
	if !r.draft.boolean {
		r.outsideVariants(totals)
	} else {
		r.outsideValues(totals)
	}
	return totals.shares(r.reach.GetBuckets())
}

// dividesOtherwise reports whether the rule is for a portion of everyone or needs other flags, or takes
// its share in another way than other rules, so that the sizes of shares do not say how they overlap.
func (r remarks) dividesOtherwise(s rule) bool {
	whole := s
	whole.Portion, whole.needs = nil, needs{}
	return s.Divide != (division{}) && s.kind == kindShare || (s.Portion != nil || len(s.Requires) > 0) && r.takesEveryone(whole)
}

func (r remarks) outsideVariants(t *totals) {
	all := r.reach.GetBuckets()
	if !r.draft.base.GetEnabled() {
		t.add(r.draft.other, all)
		return
	}
	for i, s := range r.draft.rules {
		if !r.inForce(i) || !r.takesEveryone(s) {
			continue
		}
		for _, p := range r.reach.GetSteps()[i].GetShares() {
			t.add(p.GetVariantKey(), p.GetEnd()-p.GetStart())
		}
		t.add(r.draft.other, r.reach.GetSteps()[i].GetUnassignedBuckets())
		return
	}
	t.add(r.draft.other, all)
}

func (r remarks) outsideValues(t *totals) {
	taken, all := int32(0), r.reach.GetBuckets()
	for i, s := range r.draft.rules {
		end := taken
		switch {
		case !r.inForce(i):
		case s.kind == kindShare:
			for _, p := range r.reach.GetSteps()[i].GetShares() {
				end = max(taken, p.GetEnd())
			}
		case r.takesEveryone(s):
			end = all
		}
		t.add(change.OnOff(s.value), end-taken)
		taken = end
	}
	t.add(r.draft.other, all-taken)
}

// inForce reports whether a rule of the analysis holds now.
func (r remarks) inForce(i int) bool {
	if i >= len(r.reach.GetSteps()) {
		return false
	}
	cause := r.reach.GetSteps()[i].GetCause()
	return cause != guidonv1.ReachCause_NOT_YET_REACH_CAUSE && cause != guidonv1.ReachCause_ENDED_REACH_CAUSE
}

// takesEveryone reports whether all entities are in the segments of a rule, because these
// have no constraints.
func (r remarks) takesEveryone(s rule) bool {
	if len(s.Groups)+len(s.Except)+len(s.Requires) > 0 || s.Portion != nil {
		return false
	}
	if s.isForEveryone() {
		return true
	}
	some, every := false, len(s.segments) > 0
	for _, key := range s.segments {
		g := r.segments.of(key)
		if g.missing {
			return false // the engine does not evaluate such a rule
		}
		some, every = some || g.everyone(), every && g.everyone()
	}
	if s.all {
		return every
	}
	return some
}

// totals are the buckets that outcomes get.
type totals struct {
	draft   *draft
	buckets map[string]int32
	order   []string
}

func newTotals(d *draft) *totals {
	t := &totals{draft: d, buckets: make(map[string]int32)}
	if d.boolean {
		t.order = []string{"on", "off"}
		return t
	}
	for _, v := range d.base.GetVariants() {
		t.order = append(t.order, v.GetKey())
	}
	t.order = append(t.order, "")
	return t
}

func (t *totals) add(outcome string, buckets int32) { t.buckets[outcome] += buckets }

// shares returns the outcomes that any entity gets.
func (t *totals) shares(of int32) (all []part.Share) {
	for _, outcome := range t.order {
		if n := t.buckets[outcome]; n > 0 {
			all = append(all, part.Share{
				Name: t.draft.shareName(outcome), Color: t.draft.color(outcome),
				Percent: float64(n) * 100 / float64(of), Text: bucketShare(n, of),
			})
		}
	}
	return all
}

// shareName returns the outcome for a legend.
func (d *draft) shareName(outcome string) string {
	if d.boolean {
		return outcome
	}
	return d.outcomeName(outcome)
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
