package rediscache

import "sync/atomic"

// Stats counts the use of Redis by a [Source] since it was created.
type Stats struct {
	Revisions Lookups
	Snapshots Lookups
	Errors    uint64 // failed round trips and probes
}

// Lookups counts the values found in Redis, and those read from the database instead.
type Lookups struct {
	Hits   uint64
	Misses uint64
}

// Stats returns the counts so far.
func (s *Source) Stats() Stats {
	return Stats{Revisions: s.stats.revisions.counts(), Snapshots: s.stats.snapshots.counts(), Errors: s.stats.errors.Load()}
}

// Err returns why Redis is not queried at present, or nil while it is. The text
// contains no password.
func (s *Source) Err() error { return s.health.err() }

type stats struct {
	revisions lookups
	snapshots lookups
	errors    atomic.Uint64
}

type lookups struct {
	hits   atomic.Uint64
	misses atomic.Uint64
}

func (l *lookups) counts() Lookups { return Lookups{Hits: l.hits.Load(), Misses: l.misses.Load()} }
