package service

import (
	"time"

	"github.com/guidonhq/guidon"
)

// FlagTimes returns when the flag, which may be nil, and everything in it was created and updated.
func FlagTimes(f *guidon.Flag) []*time.Time {
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

// SegmentTimes is [FlagTimes] for a segment and its constraints.
func SegmentTimes(g *guidon.Segment) []*time.Time {
	if g == nil {
		return nil
	}
	times := []*time.Time{&g.CreatedAt, &g.UpdatedAt}
	for _, c := range g.Constraints {
		times = append(times, &c.CreatedAt, &c.UpdatedAt)
	}
	return times
}
