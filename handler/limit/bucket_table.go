package limit

import (
	"maps"
	"time"
)

// MaxKeys is how many keys a [BucketTable] remembers. With short keys, they take 2 MB at most.
//
// Beyond it, the keys with the fullest buckets are forgotten, which means that their buckets are
// full again. So an attacker cannot refill an empty bucket by using many other keys: half
// of their buckets would have to be emptied first. To gain the uses of one bucket, the
// attacker would spend those of thousands of others. The keys that are forgotten are those with
// the fewest uses, and it is to their advantage.
const MaxKeys = 10_000

// BucketTable has the buckets of the keys that are not known to be full. It is not safe for
// concurrent use.
type BucketTable[K comparable] struct {
	rate Rate
	full map[K]time.Time // when the bucket of a key is full again
}

// NewBucketTable returns a table in which all buckets are full, and fill at the rate.
func NewBucketTable[K comparable](r Rate) *BucketTable[K] {
	return &BucketTable[K]{rate: r, full: make(map[K]time.Time)}
}

// Take takes a use out of the bucket of the key. If it is empty, Take reports false. For a
// key that is in the table, it does not allocate.
func (t *BucketTable[K]) Take(key K, now time.Time) bool {
	if t.rate == 0 {
		return true
	}
	before, known := t.full[key]
	after, ok := t.rate.Take(before, now)
	if !ok {
		return false
	}
	if !known && len(t.full) == MaxKeys {
		t.forgetHalf(now)
	}
	t.full[key] = after
	return true
}

// Has reports whether there is a use in the bucket of the key.
func (t *BucketTable[K]) Has(key K, now time.Time) bool {
	_, ok := t.rate.Take(t.full[key], now)
	return ok
}

// forgetHalf forgets the keys whose buckets are full and, as long as those are less than half,
// the ones with the fullest buckets of the others.
func (t *BucketTable[K]) forgetHalf(now time.Time) {
	for soon := now; len(t.full) > MaxKeys/2; soon = soon.Add(Window / 16) {
		maps.DeleteFunc(t.full, func(_ K, full time.Time) bool { return !full.After(soon) })
	}
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
