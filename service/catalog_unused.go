package service

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/service/count"
)

// UnusedKind is a kind of reasons why a flag may no longer be needed.
type UnusedKind uint8

// Kinds of reasons.
const (
	UnusedOneAnswer      UnusedKind = iota // everybody gets the same
	UnusedRounded                          // a threshold below 100 percent takes everybody
	UnusedReviewPassed                     // the review date has passed
	UnusedNotEvaluated                     // it was evaluated, but not for the period
	UnusedNeverEvaluated                   // it was never evaluated
	UnusedCannotTell                       // it would be one of the two above, but clients evaluated or downloaded all flags
	unusedKinds
)

// UnusedReason is why a flag may no longer be needed.
type UnusedReason struct {
	Kind UnusedKind
	Text string // in words
}

// UnusedFlag is a flag that may no longer be needed, as far as its configuration and its evaluations tell.
type UnusedFlag struct {
	FlagSummary
	Reasons []UnusedReason // in order of their kinds
	Usage   *FlagUsage     // nil if evaluations are not counted
}

// UnusedQuery selects flags that may no longer be needed.
type UnusedQuery struct {
	Reasons   []UnusedKind // of which a flag must have one; none means any but UnusedCannotTell
	AfterDays int          // without an evaluation; 0 means 30
	Window    Window
}

// Validate returns InvalidArgument if the query breaks a rule, whatever the namespace.
func (q *UnusedQuery) Validate() error {
	if len(q.Reasons) > maxListed {
		return invalidField("reasons", "must not have more than 100 values")
	}
	for _, kind := range q.Reasons {
		if kind >= unusedKinds {
			return invalidField("reasons", "must be known reasons")
		}
	}
	if q.AfterDays < 0 || q.AfterDays > count.MaxUnusedDays {
		return invalidField("afterDays", "must be from 1 to 366")
	}
	return q.Window.Validate()
}

// UnusedList is one page of the flags that may no longer be needed.
type UnusedList struct {
	Flags   []UnusedFlag
	Total   int
	Snoozed int // flags that are left out because their review date is to come
}

// UnusedFlags returns a page of the flags that may no longer be needed, the longest unchanged
// first.
func (v View) UnusedFlags(ctx context.Context, q UnusedQuery) (*UnusedList, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	usage, err := v.usage(ctx, cmp.Or(time.Duration(q.AfterDays)*count.StepDay, NewFor))
	if err != nil {
		return nil, err
	}
	c, now := catalogs.Of(v.Snapshot), v.now().Unix()
	list := &UnusedList{}
	want := ^unusedReasons(1 << UnusedCannotTell)
	if len(q.Reasons) > 0 {
		want = 0
	}
	for _, kind := range q.Reasons {
		want |= 1 << kind
	}
	for row := range c.order(FlagsByChange).All() {
		why := row.reasons(now) | usage.reasons(row)
		if why&want == 0 || row.metadata.permanent {
			continue
		}
		if row.metadata.snoozed(now) {
			list.Snoozed++
			continue
		}
		if q.Window.has(list.Total) {
			list.Flags = append(list.Flags, UnusedFlag{FlagSummary: v.summaryOf(row, now), Reasons: row.explain(why, usage)})
		}
		list.Total++
	}
	return list, usage.addUsage(ctx, v, list.Flags)
}

// NewFor is how long a flag counts as new: until then, nobody can have expected more of it
// than one answer. Only its review date makes it unused.
const NewFor = 30 * 24 * time.Hour

// unusedReasons is a set of kinds, as bits.
type unusedReasons uint8

// reasons returns why the flag may no longer be needed, as far as its configuration tells, whether it is snoozed or
// not.
func (f *flagFacts) reasons(now int64) (kinds unusedReasons) {
	old := now-f.flag.CreatedAt.Unix() >= int64(NewFor/time.Second)
	if old && f.Constant && !f.Unmet && now >= f.lastBoundary {
		kinds |= 1 << UnusedOneAnswer
	}
	if old && f.Rounded != analysis.NoStep {
		kinds |= 1 << UnusedRounded
	}
	if f.metadata.overdue(now) {
		kinds |= 1 << UnusedReviewPassed
	}
	return kinds
}

// unused reports whether the flag may no longer be needed, as far as its configuration tells.
func (f *flagFacts) unused(now int64) bool {
	return f.reasons(now) != 0 && !f.metadata.snoozed(now) && !f.metadata.permanent
}

// explain returns the reasons in words, in order of their kinds.
func (f *flagFacts) explain(kinds unusedReasons, u *usageIn) (reasons []UnusedReason) {
	for kind := range unusedKinds {
		if kinds&(1<<kind) != 0 {
			reasons = append(reasons, UnusedReason{kind, guidon.Shorten(f.why(kind, u), maxSummaryText)})
		}
	}
	return reasons
}

// why returns the reason in words.
func (f *flagFacts) why(kind UnusedKind, u *usageIn) string {
	switch kind {
	case UnusedNotEvaluated:
		return "nobody has evaluated it since " + u.Last[f.flag.Key].Format(time.DateOnly)
	case UnusedNeverEvaluated:
		return "nobody has evaluated it since counting began on " + u.since.Format(time.DateOnly)
	case UnusedCannotTell:
		return fmt.Sprintf("nobody has evaluated it by itself, but clients evaluated or downloaded all flags (%d times in %s)",
			u.downloads, periodWords(u.period))
	case UnusedRounded:
		t := f.flag.Rollouts[f.Rounded].Threshold
		return fmt.Sprintf("rule %d has %s, which takes everybody who gets there",
			f.Rounded+1, analysis.PercentWords(t.Ramp.PercentageAt(f.lastBoundary, t.Percentage)))
	case UnusedReviewPassed:
		return fmt.Sprintf("the review date %s has passed", f.review())
	}
	text := "everybody gets " + answerText(f.flag.Type, f.Answer)
	if f.flag.Type == guidon.VariantFlag && !f.flag.Enabled {
		text += ", because the flag is not enabled"
	}
	if last := f.flag.LastBoundary(); last != 0 {
		text += ", since its schedule ended on " + analysis.InstantWords(time.Unix(last, 0))
	}
	return text
}

// periodWords returns a period of whole days in words.
func periodWords(d time.Duration) string {
	days := int(d / (24 * time.Hour))
	if days == 1 {
		return "1 day"
	}
	return fmt.Sprintf("%d days", days)
}

// answerText returns the answer in words.
func answerText(t guidon.FlagType, a analysis.Answer) string {
	switch {
	case a.Fails:
		return "an error"
	case t == guidon.BooleanFlag:
		return strconv.FormatBool(a.Enabled)
	case a.Variant == nil:
		return "no variant"
	}
	return a.Variant.Key
}
