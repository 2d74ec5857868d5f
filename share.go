package guidon

import (
	"math"
	"slices"
)

// Split is how entities are put into buckets, where that is not the flag's own way. The zero
// value is the flag's own.
type Split struct {
	By   string     `json:"by,omitempty"`   // the property whose value is hashed; "" means the entity's id
	Seed string     `json:"seed,omitempty"` // hashed with the value; "" means the flag's key
	Hash BucketHash `json:"hash,omitempty"`
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
)

// FineBuckets is how many buckets FliptFineHash and Murmur3Hash have: a share can have three
// decimals.
const FineBuckets = 100_000

var bucketHashNames = []string{"", "flipt", "flipt-fine", "murmur3"}

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
}

// Conditions are what a rule or rollout requires of an entity besides its segments.
type Conditions struct {
	Groups            []*ConstraintGroup `json:"groups,omitempty"`            // all of which must hold
	ExceptSegmentKeys []string           `json:"exceptSegmentKeys,omitempty"` // none of which may match
	Everyone          bool               `json:"everyone,omitempty"`          // without segments and groups: it matches everyone
	Portion           *Portion           `json:"portion,omitempty"`
}

// none reports whether there are no conditions.
func (c *Conditions) none() bool {
	return len(c.Groups) == 0 && len(c.ExceptSegmentKeys) == 0 && !c.Everyone && c.Portion == nil
}

// ConstraintGroup is some constraints of a rule, which belong to no segment.
type ConstraintGroup struct {
	MatchType   MatchType     `json:"matchType"`
	Constraints []*Constraint `json:"constraints"` // without ids and times
}

// bucketer puts entities into buckets.
type bucketer struct {
	by        string
	seed      string
	hash      BucketHash // never DefaultHash
	threshold bool       // the entity comes first, and FliptHash has 100 buckets
	portion   bool       // Murmur3Hash starts with another number
}

// newBucketer returns the bucketer for shares of the flag, which has the key.
func newBucketer(s Split, key string) bucketer {
	b := bucketer{by: s.By, seed: s.Seed, hash: s.Hash}
	if b.hash == DefaultHash {
		b.hash = FliptHash
		if s.Seed != "" {
			b.hash = Murmur3Hash
		}
	}
	if b.seed == "" {
		b.seed = key
	}
	return b
}

// newPortionBucketer is newBucketer for portions.
func newPortionBucketer(s Split, key string) bucketer {
	if s.Hash == DefaultHash {
		s.Hash = Murmur3Hash
	}
	b := newBucketer(s, key)
	b.portion = true
	return b
}

// buckets returns how many buckets there are.
func (b *bucketer) buckets() int {
	switch {
	case b.hash != FliptHash:
		return FineBuckets
	case b.threshold:
		return BooleanBuckets
	}
	return VariantBuckets
}

// bucket returns the bucket of the entity. It reports false if the entity lacks the property.
func (b *bucketer) bucket(entityID string, context map[string]string) (bucket int, found bool) {
	value := entityID
	if b.by != "" {
		if value = context[b.by]; value == "" {
			return 0, false
		}
	}
	if b.hash == Murmur3Hash {
		start := uint32(0)
		if b.portion {
			start = 1
		}
		return int(uint64(murmur3(start, b.seed, value)) * FineBuckets >> 32), true
	}
	first, second, coarse := b.seed, value, uint32(VariantBuckets)
	if b.threshold {
		first, second, coarse = value, b.seed, BooleanBuckets
	}
	h := hashSum(updateHash(updateHash(hashStart, first), second))
	if b.hash == FliptHash {
		return int(h % coarse), true
	}
	fine := FineBuckets / coarse
	return int(h%coarse*fine + h/coarse%fine), true
}

// compiledShare is a share of the buckets.
type compiledShare struct {
	bucketer
	start, end int // from the first bucket up to, and without, the end
}

// limit returns the number of the bucket at which a share ends that begins at the first one.
func (b *bucketer) limit(percentage float64) int {
	switch buckets := b.buckets(); {
	case buckets == FineBuckets:
		return fineLimit(percentage)
	case b.threshold:
		return thresholdEnd(percentage)
	default:
		return int(float32(percentage) * (VariantBuckets / 100))
	}
}

// fineLimit returns the number of the fine bucket at which a share ends that begins at the
// first one. It computes in 64 bits.
func fineLimit(percentage float64) int { return int(math.Round(percentage * (FineBuckets / 100))) }

// thresholdEnd returns how many of the buckets 0 to 99 are less than the percentage.
func thresholdEnd(percentage float64) int {
	end := int(percentage)
	if float64(end) < percentage {
		end++
	}
	return end
}

// compileThreshold returns the share of the threshold, or nil if it is a percentage in the way
// of the flag with the key.
func compileThreshold(t *RolloutThreshold, key string) *compiledShare {
	if t.Start == 0 && (t.Split == nil || *t.Split == Split{}) {
		return nil
	}
	split := Split{}
	if t.Split != nil {
		split = *t.Split
	}
	b := newBucketer(split, key)
	b.threshold = true
	return compileShare(b, t.Start, t.Percentage)
}

// compileShare adds in 32 bits, so that shares such as 0.1 and 99.9 end at 100.
func compileShare(b bucketer, start, percentage float32) *compiledShare {
	return &compiledShare{b, b.limit(float64(start)), b.limit(float64(start + percentage))}
}

// has reports whether the entity is in the share.
func (s *compiledShare) has(entityID string, context map[string]string) bool {
	bucket, found := s.bucket(entityID, context)
	return found && s.start <= bucket && bucket < s.end
}

// partial reports whether the share is neither empty nor whole.
func (s *compiledShare) partial() bool { return s.start < s.end && s.end-s.start < s.buckets() }

// divides reports whether the entity's id decides whether it is in the share.
func (s *compiledShare) divides() bool { return s.by == "" && s.partial() }

// compiledConditions are conditions prepared for evaluation. Rules without any have none.
type compiledConditions struct {
	groups  *Audience          // nil unless they are apart from the segments of the audience
	except  []*CompiledSegment // in their order
	portion *compiledShare     // nil if all are in it
	split   *bucketer          // nil if the distributions use the flag's own
	err     error              // a segment of except has a constraint of an unknown type
}

// conditions compiles what is not part of the audience. It returns nil if there is nothing,
// and false if the rule never matches.
func (x segmentIndex) conditions(c *Conditions, groups *Audience, split *Split, key string) (compiled *compiledConditions, matches bool) {
	compiled = &compiledConditions{groups: groups}
	for _, k := range c.ExceptSegmentKeys {
		g := x[k]
		if g == nil {
			return nil, false
		}
		if g.single.unknown {
			compiled.err = errUnknownConstraint
		}
		compiled.except = append(compiled.except, g)
	}
	if p := c.Portion; p != nil {
		compiled.portion = compileShare(newPortionBucketer(p.Split, key), p.Start, p.Percentage)
		if compiled.portion.start >= compiled.portion.end {
			return nil, false
		}
	}
	if split != nil && *split != (Split{}) {
		compiled.split = new(newBucketer(*split, key))
	}
	if groups == nil && compiled.except == nil && compiled.portion == nil && compiled.split == nil {
		return nil, true
	}
	return compiled, true
}

// buckets returns how many buckets the distributions divide. c may be nil.
func (c *compiledConditions) buckets() int {
	if c == nil || c.split == nil {
		return VariantBuckets
	}
	return c.split.buckets()
}

// met reports whether the entity, which is in the audience, meets the conditions. bucketed is
// set if its id was hashed for that.
func (c *compiledConditions) met(entityID string, context map[string]string, bucketed *bool) (bool, error) {
	if c.groups != nil {
		if matched, err := c.groups.Match(entityID, context); matched == nil {
			return false, err
		}
	}
	if c.err != nil {
		return false, c.err
	}
	if slices.ContainsFunc(c.except, func(g *CompiledSegment) bool { return g.Matches(entityID, context) }) {
		return false, nil
	}
	if c.portion != nil {
		*bucketed = *bucketed || c.portion.divides()
		if !c.portion.has(entityID, context) {
			return false, nil
		}
	}
	if c.split != nil {
		_, found := c.split.bucket(entityID, context)
		return found, nil
	}
	return true, nil
}
