package guidon

import (
	"hash/crc32"
	"math/bits"
)

// Buckets are computed with the CRC-32 of zlib (contract 7.1). The hash state
// continues from one string to the next, so that two strings are hashed as if they
// were concatenated. The standard library can do this for []byte only, and a
// conversion would cost an allocation per evaluation.

// hashStart is the state before the first byte.
const hashStart = ^uint32(0)

// hashTables[n] is the effect of a byte on the state n bytes later (slicing-by-8).
// Eight lookups are then independent, instead of each waiting for the previous one.
var hashTables = func() *[8][256]uint32 {
	tables := [8][256]uint32{*crc32.IEEETable}
	for n := 1; n < len(tables); n++ {
		for i, state := range tables[n-1] {
			tables[n][i] = crc32.IEEETable[byte(state)] ^ state>>8 // #nosec G115 -- the low byte is meant
		}
	}
	return &tables
}()

// updateHash returns the state after the bytes of text.
func updateHash(state uint32, text string) uint32 {
	t := hashTables
	for ; len(text) >= 8; text = text[8:] {
		a := state ^ (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16 | uint32(text[3])<<24)
		b := uint32(text[4]) | uint32(text[5])<<8 | uint32(text[6])<<16 | uint32(text[7])<<24
		// #nosec G115 -- the low bytes are meant
		state = t[7][byte(a)] ^ t[6][byte(a>>8)] ^ t[5][byte(a>>16)] ^ t[4][a>>24] ^
			t[3][byte(b)] ^ t[2][byte(b>>8)] ^ t[1][byte(b>>16)] ^ t[0][b>>24]
	}
	for i := range len(text) {
		state = crc32.IEEETable[byte(state)^text[i]] ^ state>>8 // #nosec G115 -- the low byte is meant
	}
	return state
}

// hashSum returns the CRC-32 of all bytes hashed into the state.
func hashSum(state uint32) uint32 { return ^state }

// Numbers of buckets of the two flag types.
const (
	VariantBuckets = 1000
	BooleanBuckets = 100
)

// variantBucket returns the bucket of the entity. flagHash is the hash state after
// the flag's key, which comes first, without a separator (contract 7.5).
func variantBucket(flagHash uint32, entityID string) int {
	return int(hashSum(updateHash(flagHash, entityID)) % VariantBuckets)
}

// booleanBucket returns the bucket of the entity. The entity comes first, unlike in
// variantBucket (contract 7.6).
func booleanBucket(flagKey, entityID string) int {
	return int(hashSum(updateHash(updateHash(hashStart, entityID), flagKey)) % BooleanBuckets)
}

// bucketRange maps the buckets from the end of the previous range up to its own end
// to a variant.
type bucketRange struct {
	end             int    // exclusive
	key, attachment string // of the variant
}

// compileRanges maps the buckets to the distributions (contract 7.5). It omits
// distributions whose share is not positive or whose variant no longer exists. An
// empty range would differ: a rule with an empty range can miss, while a rule
// without ranges always matches.
func compileRanges(distributions []*Distribution, variants map[string]*Variant, buckets int) []bucketRange {
	ranges := make([]bucketRange, 0, len(distributions))
	sum := BucketSum{Fine: buckets == FineBuckets}
	for _, d := range distributions {
		v := variants[d.VariantID]
		if v == nil || !d.Shares() {
			continue
		}
		ranges = append(ranges, bucketRange{end: sum.Add(d), key: v.Key, attachment: v.Attachment})
	}
	return ranges
}

// Shares reports whether the distribution has a share of the rule's entities, though
// perhaps of less than one bucket. A rule of which none has always matches.
func (d *Distribution) Shares() bool { return d.Rollout > 0 } // not if it is NaN

// BucketSum adds up the buckets of the distributions of a rule that share.
type BucketSum struct {
	Fine       bool // of [FineBuckets]
	end        int
	percentage float64
}

// Add returns the bucket at which the distribution ends, if there are so many. Without Fine it
// computes in 32 bits and truncates each one by itself: three shares of 33.33 end at 999.
func (s *BucketSum) Add(d *Distribution) (end int) {
	if s.percentage += float64(d.Rollout); s.Fine {
		return fineLimit(s.percentage)
	}
	s.end += int(d.Rollout * (VariantBuckets / 100))
	return s.end
}

// rangeOf returns the range that contains the bucket, or nil.
func (r *compiledRule) rangeOf(bucket int) *bucketRange {
	for i := range r.ranges {
		if bucket < r.ranges[i].end {
			return &r.ranges[i]
		}
	}
	return nil
}

// murmur3 returns MurmurHash3_x86_32 of the two texts, one after the other.
func murmur3(start uint32, first, second string) uint32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	length := len(first) + len(second)
	at := func(i int) uint32 {
		if i < len(first) {
			return uint32(first[i])
		}
		return uint32(second[i-len(first)])
	}
	mix := func(k uint32) uint32 { return bits.RotateLeft32(k*c1, 15) * c2 }
	h, i := start, 0
	for ; i+4 <= length; i += 4 {
		k := at(i) | at(i+1)<<8 | at(i+2)<<16 | at(i+3)<<24
		h = bits.RotateLeft32(h^mix(k), 13)*5 + 0xe6546b64
	}
	if i < length {
		k := uint32(0)
		for j := length - 1; j >= i; j-- {
			k = k<<8 | at(j)
		}
		h ^= mix(k)
	}
	h ^= uint32(length) // #nosec G115 -- as the algorithm does
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
