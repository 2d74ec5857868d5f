package limit

import (
	"net/netip"
)

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
