package cache

import (
	"math/rand/v2"
	"sync/atomic"
)

// Stats counts what the cache has done since it was made.
type Stats struct {
	Hits   uint64 // snapshots and authentication sets answered from memory
	Misses uint64 // those that waited for a load
	Loads  uint64 // questions to the source; misses that wait together share one
}

// Stats returns the counts so far.
func (c *Cache) Stats() Stats {
	s := Stats{Misses: c.stats.misses.Load(), Loads: c.stats.loads.Load()}
	for i := range c.stats.hits {
		s.Hits += c.stats.hits[i].Load()
	}
	return s
}

type stats struct {
	// Every request counts a hit: one counter would pass from processor to
	// processor all the time, so there are several, each in a cache line.
	hits   [16]paddedCounter
	misses atomic.Uint64
	loads  atomic.Uint64
}

type paddedCounter struct {
	atomic.Uint64
	_ [56]byte
}

func (s *stats) hit() {
	s.hits[rand.Uint32()%uint32(len(s.hits))].Add(1) // #nosec G404 -- spreads load, keeps no secret
}
