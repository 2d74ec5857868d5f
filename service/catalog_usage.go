package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service/count"
)

// Verdict is whether a flag can be deleted, as far as its evaluations tell.
type Verdict uint8

// Verdicts, in the order in which they are considered from VerdictPermanent on.
const (
	VerdictActive     Verdict = iota // none of the others
	VerdictPermanent                 // its metadata has "guidon.permanent": true
	VerdictNew                       // it, or counting, is not old enough
	VerdictUnused                    // it was evaluated, but not for the period
	VerdictNeverUsed                 // it was never evaluated
	VerdictCannotTell                // it would be one of the two above, but clients evaluated or downloaded all flags
	VerdictSteady                    // it is evaluated, and has given everybody the same for the period
)

// FlagUsage is how a flag was used within a period.
type FlagUsage struct {
	Verdict     Verdict
	LastAt      time.Time // of the last evaluation, in whole minutes; zero if there was none
	Evaluations uint64    // within the period
	Downloads   uint64    // within the period, of all flags
	Since       time.Time // evaluations have been counted
}

// usageIn judges the flags of a namespace by their usage within a period.
type usageIn struct {
	*count.Usage
	period    time.Duration
	since     time.Time // zero if they are not counted
	downloads uint64
	required  map[string]bool // keys of flags that others require: whoever evaluates those evaluates these, uncounted
	now       time.Time
}

// usage returns how the flags of the namespace are used; nil if evaluations are not counted.
func (v View) usage(ctx context.Context, period time.Duration) (*usageIn, error) {
	if v.Counter == nil {
		return nil, nil
	}
	counted, err := v.Counter.Usage(ctx, v.Namespace)
	if err != nil {
		return nil, err
	}
	u := &usageIn{Usage: counted, period: period, since: counted.Since, required: map[string]bool{}, now: v.now()}
	if created := v.Snapshot.Namespace().CreatedAt; !u.since.IsZero() && created.After(u.since) {
		u.since = created
	}
	u.downloads = counted.Downloads(u.now.Add(-period))
	for _, f := range v.Snapshot.Requiring() {
		for _, r := range f.Requirements() {
			u.required[r.FlagKey] = true
		}
	}
	return u, nil
}

// within reports whether the time is less than the period ago.
func (u *usageIn) within(t time.Time) bool { return u.now.Sub(t) < u.period }

// verdict returns whether the flag can be deleted.
func (u *usageIn) verdict(f *flagFacts) Verdict {
	last, evaluated := u.Last[f.flag.Key]
	changes := u.within(f.flag.UpdatedAt) || u.now.Unix() < f.lastBoundary
	switch {
	case f.metadata.permanent:
		return VerdictPermanent
	case u.since.IsZero() || u.within(u.since) || u.within(f.flag.CreatedAt):
		return VerdictNew
	case changes:
		return VerdictActive
	case u.within(last) && f.Constant && !f.Unmet:
		return VerdictSteady
	case u.within(last), u.required[f.flag.Key]:
		return VerdictActive
	case u.downloads > 0:
		return VerdictCannotTell
	case evaluated:
		return VerdictUnused
	}
	return VerdictNeverUsed
}

// reasons returns why the usage tells that the flag may no longer be needed.
func (u *usageIn) reasons(f *flagFacts) unusedReasons {
	if u == nil {
		return 0
	}
	switch u.verdict(f) {
	case VerdictUnused:
		return 1 << UnusedNotEvaluated
	case VerdictNeverUsed:
		return 1 << UnusedNeverEvaluated
	case VerdictCannotTell:
		return 1 << UnusedCannotTell
	}
	return 0
}

// addUsage adds to the flags how they were used.
func (u *usageIn) addUsage(ctx context.Context, v View, flags []UnusedFlag) error {
	if u == nil || len(flags) == 0 {
		return nil
	}
	keys := lists.Map(flags, func(f UnusedFlag) string { return f.Flag.Key })
	series, err := v.Counter.Series(ctx, v.Namespace, keys, count.Range{From: u.now.Add(-u.period), Step: count.StepDay})
	if err != nil {
		return err
	}
	for i := range flags {
		key := flags[i].Flag.Key
		usage := &FlagUsage{LastAt: u.Last[key], Downloads: u.downloads, Since: u.since}
		usage.Verdict = u.verdict(factsOf.Of(v.Snapshot.Compiled(key)))
		for _, point := range series[key].Points {
			usage.Evaluations += point.Sum()
		}
		flags[i].Usage = usage
	}
	return nil
}
