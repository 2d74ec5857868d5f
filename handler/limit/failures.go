package limit

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// FailureConfig configures [Failures].
type FailureConfig struct {
	PerAddress int              // failures per second of one address; 0 means no limit
	Total      int              // failures per second of all addresses; 0 means no limit
	Loopback   bool             // the limits also apply to callers on this machine
	Now        func() time.Time // required
}

// Failures limits failed credentials for each address and in total. IPv6 addresses with the
// same first 64 bits count as one, because they belong to one network. A limit is a bucket
// from which each failure takes one. It holds the failures of ten seconds.
//
// A failure beyond a limit takes nothing. So a caller is slowed down to the limit but never
// locked out, and one address has no more than its own part of the total.
//
// Failures are safe for concurrent use. Its memory is limited; see [MaxKeys]. The
// limit of the total does not let an attacker empty that many buckets.
type Failures struct {
	loopback bool
	now      func() time.Time
	denied   atomic.Uint64
	limited  atomic.Uint64

	mu        sync.Mutex
	rate      Rate      // of the total
	full      time.Time // when the bucket of the total is full again
	addresses *BucketTable[netip.Addr]
}

// NewFailures returns Failures whose buckets are full.
func NewFailures(config FailureConfig) *Failures {
	return &Failures{
		loopback: config.Loopback, now: config.Now,
		rate: PerSecond(config.Total), addresses: NewBucketTable[netip.Addr](PerSecond(config.PerAddress)),
	}
}

// Fail counts a failed credential of the caller, and reports whether it is beyond a limit.
func (l *Failures) Fail(caller Caller) (limited bool) {
	if caller.Local && !l.loopback || l.take(groupOf(caller.Address)) {
		l.denied.Add(1)
		return false
	}
	l.limited.Add(1)
	return true
}

// take takes a failure out of the bucket of the address and that of the total. If one of
// them is empty, it takes nothing and reports false.
func (l *Failures) take(group netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	full, ok := l.rate.Take(l.full, now)
	if !ok || !l.addresses.Take(group, now) {
		return false
	}
	l.full = full
	return true
}

// Exhausted reports whether the next failure of the caller would be beyond a limit. If so,
// it counts the request as one.
func (l *Failures) Exhausted(caller Caller) bool {
	if caller.Local && !l.loopback || l.has(groupOf(caller.Address)) {
		return false
	}
	l.limited.Add(1)
	return true
}

// has reports whether there is a failure in the bucket of the address and in that of the
// total.
func (l *Failures) has(group netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	_, ok := l.rate.Take(l.full, now)
	return ok && l.addresses.Has(group, now)
}

// FailureStats are the counts of Failures.
type FailureStats struct {
	Denied  uint64 // failures within the limits, and those to which no limit applies
	Limited uint64 // failures beyond a limit
}

// Stats returns the counts so far.
func (l *Failures) Stats() FailureStats {
	return FailureStats{Denied: l.denied.Load(), Limited: l.limited.Load()}
}

// networkBits is the length of the prefix of an IPv6 network. One host can have any
// address in it.
const networkBits = 64

// groupOf returns the address that represents all addresses that count as one.
func groupOf(a netip.Addr) netip.Addr {
	if !a.Is6() {
		return a
	}
	network, _ := a.Prefix(networkBits) // 64 bits are valid for every IPv6 address
	return network.Addr()
}
