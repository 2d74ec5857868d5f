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
		setTimes(service.SegmentTimes(g), service.SegmentTimes(stored.Segment(g.Key)), now)
	}
	for _, f := range n.Flags {
		setTimes(service.FlagTimes(f), service.FlagTimes(stored.Flag(f.Key)), now)
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

func authenticationTimes(a *service.Authentication) []*time.Time {
	if a == nil {
		return nil
	}
	return []*time.Time{&a.CreatedAt, &a.UpdatedAt}
}
