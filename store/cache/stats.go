package cache

import (
	"math/rand/v2"
	"sync/atomic"
)

// Stats counts the operations of a cache since it was created.
type Stats struct {
	Hits   uint64 // snapshots and authentication sets returned from memory
	Misses uint64 // those that waited for a load
	Stale  uint64 // requests that [Shared] served from memory because the source did not respond
}

type stats struct {
	// Every request counts a hit. A single counter would move from processor to
	// processor all the time, so there are several, each in its own cache line.
	hits   [16]paddedCounter
	misses atomic.Uint64
	stale  atomic.Uint64
}

type paddedCounter struct {
	atomic.Uint64
	_ [56]byte
}

func (s *stats) hit() {
	s.hits[rand.Uint32()%uint32(len(s.hits))].Add(1) // #nosec G404 -- spreads load, keeps no secret
}

// Stats returns the counts so far.
func (s *stats) Stats() Stats {
	c := Stats{Misses: s.misses.Load(), Stale: s.stale.Load()}
	for i := range s.hits {
		c.Hits += s.hits[i].Load()
	}
	return c
}
