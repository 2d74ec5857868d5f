package guidon

import "math"

// Split is how entities are put into buckets, if not in the flag's own way. The zero
// value is the flag's own.
type Split struct {
	By   string     `json:"by,omitempty"`   // the property whose value is hashed; "" means the entity's id
	Seed string     `json:"seed,omitempty"` // hashed with the value; "" means the flag's key
	Hash BucketHash `json:"hash,omitempty"`
}

// Stated returns the split, or the flag's own if s is nil.
func (s *Split) Stated() Split {
	if s == nil {
		return Split{}
	}
	return *s
}

// BucketHash is how a bucket is computed from a seed and a value. The numbers are those of the
// wire.
type BucketHash uint8

// Ways to compute buckets (contract 7.11).
const (
	DefaultHash   BucketHash = 0 // FliptHash, or Murmur3Hash for portions and if there is a seed
	FliptHash     BucketHash = 1 // 1,000 buckets, or 100 for thresholds
	FliptFineHash BucketHash = 2 // 100,000 buckets that refine those of FliptHash
	Murmur3Hash   BucketHash = 3 // 100,000 buckets
	UnleashHash   BucketHash = 4 // as Unleash does: 1,000 buckets, or 100 for thresholds and portions
)

// FineBuckets is how many buckets FliptFineHash and Murmur3Hash have: a share can have three
// decimals.
const FineBuckets = 100_000

var bucketHashNames = []string{"", "flipt", "flipt-fine", "murmur3", "unleash"}

// String returns the name in files, or the number if it has none.
func (h BucketHash) String() string { return enumName(bucketHashNames, h) }

// Known reports whether the value is one of the constants.
func (h BucketHash) Known() bool { return int(h) < len(bucketHashNames) }

// MarshalText returns the name in files, or an error if it has none.
func (h BucketHash) MarshalText() ([]byte, error) { return marshalEnum(bucketHashNames, h) }

// UnmarshalText sets h by its name in files. Anything else is an error.
func (h *BucketHash) UnmarshalText(text []byte) error { return unmarshalEnum(bucketHashNames, h, text) }

// Portion is the part of the entities of a rule that the rule is for. The others go on to the
// next rule.
type Portion struct {
	Percentage float32 `json:"percentage"`      // 0 to 100
	Start      float32 `json:"start,omitempty"` // where the share begins, in percent of the buckets
	Split
	Ramp *Ramp `json:"ramp,omitempty"` // how it comes to the percentage; nil means it has it always
}

// Bucketer puts entities into buckets.
type Bucketer struct {
	By        string // as in Split
	Seed      string
	Hash      BucketHash // never DefaultHash
	Threshold bool       // the entity is hashed first by FliptHash, which then has 100 buckets, as UnleashHash
	Portion   bool       // Murmur3Hash starts with another number, and UnleashHash has 100 buckets
}

// newBucketer returns the bucketer for shares of the flag, which has the key.
func newBucketer(s Split, key string) Bucketer {
	b := Bucketer{By: s.By, Seed: s.Seed, Hash: s.Hash}
	if b.Hash == DefaultHash {
		b.Hash = FliptHash
		if s.Seed != "" {
			b.Hash = Murmur3Hash
		}
	}
	if b.Seed == "" {
		b.Seed = key
	}
	return b
}

// newPortionBucketer is newBucketer for portions.
func newPortionBucketer(s Split, key string) Bucketer {
	if s.Hash == DefaultHash {
		s.Hash = Murmur3Hash
	}
	b := newBucketer(s, key)
	b.Portion = true
	return b
}

// Buckets returns how many buckets there are.
func (b *Bucketer) Buckets() int {
	switch {
	case b.Hash == UnleashHash && b.Portion, b.Hash.coarse() && b.Threshold:
		return BooleanBuckets
	case b.Hash.coarse():
		return VariantBuckets
	}
	return FineBuckets
}

// coarse reports whether the hash has few buckets, whose number depends on the share.
func (h BucketHash) coarse() bool { return h == FliptHash || h == UnleashHash }

// Value returns the value of the entity that is hashed. It reports false if the entity lacks
// the property.
func (b *Bucketer) Value(entityID string, context map[string]string) (value string, found bool) {
	if b.By == "" {
		return entityID, true
	}
	value = context[b.By]
	return value, value != ""
}

// Bucket returns the bucket of a value.
func (b *Bucketer) Bucket(value string) int {
	switch b.Hash {
	case UnleashHash:
		return b.unleashBucket(value)
	case Murmur3Hash:
		start := uint32(0)
		if b.Portion {
			start = 1
		}
		return int(uint64(murmur3(start, b.Seed, value)) * FineBuckets >> 32)
	}
	first, second, coarse := b.Seed, value, uint32(VariantBuckets)
	if b.Threshold {
		first, second, coarse = value, b.Seed, BooleanBuckets
	}
	h := hashSum(updateHash(updateHash(hashStart, first), second))
	if b.Hash == FliptHash {
		return int(h % coarse)
	}
	fine := FineBuckets / coarse
	return int(h%coarse*fine + h/coarse%fine)
}

// unleashVariants is the number with which Unleash starts the hash for variants.
const unleashVariants = 86028157

func (b *Bucketer) unleashBucket(value string) int {
	start := uint32(unleashVariants)
	if b.Threshold || b.Portion {
		start = 0
	}
	return int(murmur3(start, b.Seed, value) % uint32(b.Buckets())) // #nosec G115 -- at most 1,000
}

// limit returns the number of the bucket at which a share ends that begins at the first one.
func (b *Bucketer) limit(percentage float64) int {
	switch {
	case b.Hash == UnleashHash:
		return int(percentage) // as Unleash counts its buckets from 1
	case b.Hash != FliptHash:
		return fineLimit(percentage)
	case b.Threshold:
		return thresholdEnd(percentage)
	}
	return int(float32(percentage) * (VariantBuckets / 100))
}

// fineLimit is limit for fine buckets. It computes in 64 bits.
func fineLimit(percentage float64) int { return int(math.Round(percentage * (FineBuckets / 100))) }

// thresholdEnd returns how many of the buckets 0 to 99 are less than the percentage.
func thresholdEnd(percentage float64) int {
	switch {
	case !(percentage > 0): // NaN too
		return 0
	case percentage >= BooleanBuckets:
		return BooleanBuckets
	}
	return int(math.Ceil(percentage))
}

// BucketShare is a share of the buckets.
type BucketShare struct {
	Bucketer
	Start, End int // from the first bucket up to, and without, the end
	Percentage float32
}

func newBucketShare(b Bucketer, start, percentage float32) BucketShare {
	from, to := float64(start), float64(start+percentage) // in 32 bits, so that 0.1 and 99.9 are 100
	return BucketShare{b, b.limit(from), min(b.limit(to), b.Buckets()), percentage}
}

// newThresholdBucketer is newBucketer for thresholds.
func newThresholdBucketer(t *RolloutThreshold, key string) Bucketer {
	b := newBucketer(t.Split.Stated(), key)
	b.Threshold = true
	return b
}

// Has reports whether the entity is in the share.
func (s *BucketShare) Has(entityID string, context map[string]string) bool {
	value, found := s.Value(entityID, context)
	return found && s.Contains(s.Bucket(value))
}

// Contains reports whether the bucket is in the share.
func (s *BucketShare) Contains(bucket int) bool { return s.Start <= bucket && bucket < s.End }

// Empty reports whether the share has no buckets.
func (s *BucketShare) Empty() bool { return s.Start >= s.End }

// Whole reports whether the share has all buckets.
func (s *BucketShare) Whole() bool { return s.Start == 0 && s.End >= s.Buckets() }

// Takes reports whether the share has all entities.
func (s *BucketShare) Takes() bool { return s.By == "" && s.Whole() }

// partial reports whether the share is neither empty nor whole.
func (s *BucketShare) partial() bool { return !s.Empty() && !s.Whole() }

// divides reports whether the entity's id decides whether it is in the share.
func (s *BucketShare) divides() bool { return s.By == "" && s.partial() }
