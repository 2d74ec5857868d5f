package rediscache

import "sync/atomic"

// Stats counts what a [Source] has asked Redis since it was made.
type Stats struct {
	Revisions Lookups
	Snapshots Lookups
	Errors    uint64 // round trips that failed, and probes
}

// Lookups counts what Redis had, and what the database was asked for instead.
type Lookups struct {
	Hits   uint64
	Misses uint64
}

// Stats returns the counts so far.
func (s *Source) Stats() Stats {
	return Stats{Revisions: s.stats.revisions.counts(), Snapshots: s.stats.snapshots.counts(), Errors: s.stats.errors.Load()}
}

// Err returns why Redis is not asked at present, and nil while it is. The text
// shows no password.
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
