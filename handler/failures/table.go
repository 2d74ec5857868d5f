package failures

import (
	"container/heap"
	"net/netip"
	"time"
)

// MaxAddresses is how many addresses a [Limiter] remembers. They take 2 MB at most.
//
// Beyond it, the address with the fullest bucket is forgotten, which means that its bucket
// is full again. So an attacker cannot refill an empty bucket by failing from many other
// addresses: all of their buckets would have to be emptied first. To gain the failures of
// one bucket, the attacker would spend those of all the others, which the limit of the
// total does not even allow. The addresses that are forgotten are those with the fewest
// failures, and it is to their advantage.
const MaxAddresses = 10_000

// table is the buckets of the addresses that are not known to be full. It is a heap, in
// which the first bucket is the one that is full again first. Time does not change the
// order, because all buckets fill at the same rate.
type table struct {
	rate      rate
	byAddress map[netip.Addr]*bucket
	order     []*bucket
}

// bucket is that of one address.
type bucket struct {
	address netip.Addr
	full    time.Time // when it is full again
	place   int       // in the order
}

func newTable(r rate) table { return table{rate: r, byAddress: make(map[netip.Addr]*bucket)} }

// take takes a failure out of the bucket of the address. If it is empty, take reports
// false.
func (t *table) take(address netip.Addr, now time.Time) bool {
	if t.rate == 0 {
		return true
	}
	b := t.byAddress[address]
	if b == nil {
		b = t.add(address, now)
	}
	full, ok := t.rate.take(b.full, now)
	if ok {
		b.full = full
		heap.Fix(t, b.place)
	}
	return ok
}

// add returns a full bucket for a new address. It reuses the first one if that is full,
// which need not be remembered, or if the table is.
func (t *table) add(address netip.Addr, now time.Time) *bucket {
	if len(t.order) > 0 && (len(t.order) == MaxAddresses || !t.order[0].full.After(now)) {
		b := t.order[0]
		delete(t.byAddress, b.address)
		b.address, b.full = address, now
		t.byAddress[address] = b
		return b
	}
	b := &bucket{address: address, full: now}
	t.byAddress[address] = b
	heap.Push(t, b)
	return b
}

// Len implements [heap.Interface].
func (t *table) Len() int { return len(t.order) }

// Less implements [heap.Interface].
func (t *table) Less(i, j int) bool { return t.order[i].full.Before(t.order[j].full) }

// Swap implements [heap.Interface].
func (t *table) Swap(i, j int) {
	t.order[i], t.order[j] = t.order[j], t.order[i]
	t.order[i].place, t.order[j].place = i, j
}

// Push implements [heap.Interface].
func (t *table) Push(b any) {
	added := b.(*bucket)
	added.place = len(t.order)
	t.order = append(t.order, added)
}

// Pop implements [heap.Interface]. It is not called: buckets are reused.
func (t *table) Pop() any {
	last := len(t.order) - 1
	b := t.order[last]
	t.order = t.order[:last]
	return b
}
