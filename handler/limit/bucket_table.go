package limit

import (
	"container/heap"
	"time"
)

// MaxKeys is how many keys a [BucketTable] remembers. With short keys, they take 2 MB at most.
//
// Beyond it, the key with the fullest bucket is forgotten, which means that its bucket is
// full again. So an attacker cannot refill an empty bucket by using many other keys: all
// of their buckets would have to be emptied first. To gain the uses of one bucket, the
// attacker would spend those of all the others. The keys that are forgotten are those with
// the fewest uses, and it is to their advantage.
const MaxKeys = 10_000

// BucketTable has the buckets of the keys that are not known to be full. It is not safe for
// concurrent use.
type BucketTable[K comparable] struct {
	rate  Rate
	byKey map[K]*bucket[K]
	order bucketOrder[K]
}

// bucket belongs to one key.
type bucket[K comparable] struct {
	key   K
	full  time.Time // when it is full again
	place int       // in the order
}

// NewBucketTable returns a table in which all buckets are full, and fill at the rate.
func NewBucketTable[K comparable](r Rate) *BucketTable[K] {
	return &BucketTable[K]{rate: r, byKey: make(map[K]*bucket[K])}
}

// Take takes a use out of the bucket of the key. If it is empty, Take reports false. For a
// key that is in the table, it does not allocate.
func (t *BucketTable[K]) Take(key K, now time.Time) bool {
	if t.rate == 0 {
		return true
	}
	e := t.byKey[key]
	if e == nil {
		e = t.add(key, now)
	}
	full, ok := t.rate.Take(e.full, now)
	if ok {
		e.full = full
		heap.Fix(&t.order, e.place)
	}
	return ok
}

// Has reports whether there is a use in the bucket of the key.
func (t *BucketTable[K]) Has(key K, now time.Time) bool {
	e := t.byKey[key]
	if t.rate == 0 || e == nil {
		return true
	}
	_, ok := t.rate.Take(e.full, now)
	return ok
}

// add returns a full bucket for a new key. It reuses the first one if that is full, which
// need not be remembered, or if the table is.
func (t *BucketTable[K]) add(key K, now time.Time) *bucket[K] {
	if len(t.order) > 0 && (len(t.order) == MaxKeys || !t.order[0].full.After(now)) {
		e := t.order[0]
		delete(t.byKey, e.key)
		e.key, e.full = key, now
		t.byKey[key] = e
		return e
	}
	e := &bucket[K]{key: key, full: now}
	t.byKey[key] = e
	heap.Push(&t.order, e)
	return e
}

// bucketOrder is a heap, in which the first bucket is the one that is full again first. Time
// does not change the order, because all buckets fill at the same rate.
type bucketOrder[K comparable] []*bucket[K]

// Len implements [heap.Interface].
func (o *bucketOrder[K]) Len() int { return len(*o) }

// Less implements [heap.Interface].
func (o *bucketOrder[K]) Less(i, j int) bool { return (*o)[i].full.Before((*o)[j].full) }

// Swap implements [heap.Interface].
func (o *bucketOrder[K]) Swap(i, j int) {
	s := *o
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = i, j
}

// Push implements [heap.Interface].
func (o *bucketOrder[K]) Push(e any) {
	added := e.(*bucket[K])
	added.place = len(*o)
	*o = append(*o, added)
}

// Pop implements [heap.Interface]. It is not called: buckets are reused.
func (o *bucketOrder[K]) Pop() any {
	last := len(*o) - 1
	e := (*o)[last]
	*o = (*o)[:last]
	return e
}

// Window is how long an empty bucket takes to fill.
const Window = 10 * time.Second

// Rate is how fast a bucket fills: the time for one use, or 0 if it is always full.
type Rate time.Duration

// PerSecond returns the rate of n uses per second; 0 means no limit.
func PerSecond(n int) Rate {
	if n <= 0 {
		return 0
	}
	return Rate(time.Second / time.Duration(n))
}

// Take returns when a bucket that is full again at the given time would be full if one use
// were taken out of it now, and whether there is one in it. A bucket is nothing but this
// time.
func (r Rate) Take(full, now time.Time) (after time.Time, ok bool) {
	if full.Before(now) {
		full = now
	}
	after = full.Add(time.Duration(r))
	return after, after.Sub(now) <= Window
}
