package fliptdb

import (
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// setTimes sets the times of the namespace, and of its flags and segments, that could not be
// read.
func (n *Namespace) setTimes(stored *guidon.Snapshot, now time.Time) {
	setTimes(namespaceTimes(&n.Namespace), namespaceTimes(stored.Namespace()), now)
	for _, g := range n.Segments {
		setTimes(segmentTimes(g), segmentTimes(stored.Segment(g.Key)), now)
	}
	for _, f := range n.Flags {
		setTimes(flagTimes(f), flagTimes(stored.Flag(f.Key)), now)
	}
}

// setTimes sets the zero times to those of the stored object, so that the same import can
// be repeated, or else to now.
func setTimes(times, stored []*time.Time, now time.Time) {
	for i, t := range times {
		if t.IsZero() && i < len(stored) {
			*t = *stored[i]
		}
		if t.IsZero() {
			*t = now
		}
	}
}

func namespaceTimes(n *guidon.Namespace) []*time.Time {
	return []*time.Time{&n.CreatedAt, &n.UpdatedAt}
}

// flagTimes returns the times of the flag and of everything in it.
func flagTimes(f *guidon.Flag) []*time.Time {
	if f == nil {
		return nil
	}
	times := []*time.Time{&f.CreatedAt, &f.UpdatedAt}
	for _, v := range f.Variants {
		times = append(times, &v.CreatedAt, &v.UpdatedAt)
	}
	for _, r := range f.Rules {
		times = append(times, &r.CreatedAt, &r.UpdatedAt)
		for _, d := range r.Distributions {
			times = append(times, &d.CreatedAt, &d.UpdatedAt)
		}
	}
	for _, r := range f.Rollouts {
		times = append(times, &r.CreatedAt, &r.UpdatedAt)
	}
	return times
}

// segmentTimes returns the times of the segment and of its constraints.
func segmentTimes(g *guidon.Segment) []*time.Time {
	if g == nil {
		return nil
	}
	times := []*time.Time{&g.CreatedAt, &g.UpdatedAt}
	for _, c := range g.Constraints {
		times = append(times, &c.CreatedAt, &c.UpdatedAt)
	}
	return times
}

func authenticationTimes(a *service.Authentication) []*time.Time {
	if a == nil {
		return nil
	}
	return []*time.Time{&a.CreatedAt, &a.UpdatedAt}
}
