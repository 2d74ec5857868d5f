package flagtest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// Source makes random flags and segments, and changes them at random. The same seed makes the
// same ones. The objects are valid by contract 4, and have the form in which they are stored.
// Few different values occur, so that independent changes often collide.
type Source struct {
	random *rand.Rand
	now    time.Time
	plain  bool

	// Requirable are the keys of flags that flags may require, or some of their rules. There need not
	// be such a flag, nor need it have the answers.
	Requirable []string
}

// NewSource returns a source with the seed.
func NewSource(seed uint64) *Source {
	return &Source{
		random: rand.New(rand.NewPCG(seed, 1)), // #nosec G404 -- repeatable, for tests
		now:    time.Date(2026, 1, 2, 3, 4, 5, 678901000, time.UTC),
	}
}

// Plain returns the source for flags without what Flipt v1 lacks.
func (s *Source) Plain() *Source {
	s.plain = true
	return s
}

// RandomSegmentKeys are the keys of the segments that random flags refer to.
var RandomSegmentKeys = []string{"staff", "beta", "mobile", "europe", "everyone"}

// State returns flags with the keys flag-0, flag-1, …, and one segment for each of
// RandomSegmentKeys.
func (s *Source) State(flags int) ([]*guidon.Flag, []*guidon.Segment) {
	var all []*guidon.Flag
	for i := range flags {
		all = append(all, s.Flag(fmt.Sprint("flag-", i)))
	}
	var segments []*guidon.Segment
	for _, key := range RandomSegmentKeys {
		segments = append(segments, s.Segment(key))
	}
	return all, segments
}

// Namespace returns a namespace with the key.
func (s *Source) Namespace(key string) *guidon.Namespace {
	now := s.time()
	return &guidon.Namespace{
		Key: key, Name: s.text(), Description: s.text(), Protected: s.one(2), Color: s.color(),
		ConfirmChanges: s.one(2), CreatedAt: now, UpdatedAt: now,
	}
}

// Flag returns a flag with the key: of any type, with all kinds of parts.
func (s *Source) Flag(key string) *guidon.Flag {
	now := s.time()
	f := &guidon.Flag{
		Key: key, Name: s.name(), Description: s.text(), Type: guidon.FlagType(s.random.IntN(2)), // #nosec G115 -- 0 or 1
		Enabled: s.one(2), CreatedAt: now, UpdatedAt: now,
	}
	for range s.random.IntN(3) {
		s.editMetadata(f)
	}
	for range s.random.IntN(4) {
		s.addVariant(f)
	}
	s.editDefault(f)
	for range s.random.IntN(5) {
		s.addRule(f)
		s.addRollout(f)
	}
	if s.one(4) {
		f.Requires = s.requirements()
	}
	return f
}

// Segment returns a segment with the key.
func (s *Source) Segment(key string) *guidon.Segment {
	now := s.time()
	g := &guidon.Segment{
		Key: key, Name: s.name(), Description: s.text(),
		MatchType: guidon.MatchType(s.random.IntN(2)), CreatedAt: now, UpdatedAt: now, // #nosec G115 -- 0 or 1
	}
	for range s.random.IntN(5) {
		s.addConstraint(g)
	}
	return g
}

// one reports true once in n times.
func (s *Source) one(n int) bool { return s.random.IntN(n) == 0 }

// time returns a time later than all before it.
func (s *Source) time() time.Time {
	s.now = s.now.Add(time.Second)
	return s.now
}

// id returns a random id in the form of a UUID.
func (s *Source) id() string {
	return fmt.Sprintf("%08x-0000-4000-8000-%012x", s.random.Uint32(), s.random.Uint64()>>16)
}

func pick[T any](s *Source, from ...T) T { return from[s.random.IntN(len(from))] }

func (s *Source) name() string { return pick(s, "Checkout", "Search", "Käse & Brot", "日本語") }

func (s *Source) color() guidon.Color { return pick(s, "", "", guidon.Amber, guidon.Violet) }

func (s *Source) text() string {
	return pick(s, "", "", "short", "two\nlines", "<b>&amp;</b>", "a longer description, of more than forty bytes")
}

func (s *Source) json() string {
	return pick(s, `"text"`, `1`, `2.50`, `true`, `null`, `{"a":[1,{"b":"ü"}]}`, `[]`)
}

func (s *Source) percentage() float32 { return pick[float32](s, 0, 0.1, 10, 33.33, 50, 100) }

func (s *Source) segmentKeys() ([]string, guidon.SegmentOperator) {
	keys := slices.Clone(RandomSegmentKeys)
	s.random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:1+s.random.IntN(2)]
	if len(keys) == 1 {
		return keys, guidon.OrSegments
	}
	return keys, guidon.SegmentOperator(s.random.IntN(2)) // #nosec G115 -- 0 or 1
}

func (s *Source) addVariant(f *guidon.Flag) {
	key := s.freeVariantKey(f)
	if key == "" {
		return
	}
	now := s.time()
	f.Variants = slices.Insert(f.Variants, s.place(len(f.Variants)), &guidon.Variant{
		ID: s.id(), Key: key, Name: s.text(), Attachment: pick(s, "", s.json()), CreatedAt: now, UpdatedAt: now,
	})
}

// freeVariantKey returns a key that no variant of the flag has, or "".
func (s *Source) freeVariantKey(f *guidon.Flag) string {
	key := pick(s, "red", "green", "blue", "A variant's key [1]", "ключ")
	if f.VariantByKey(key) != nil {
		return ""
	}
	return key
}

// place returns where to insert into a list of n items: at the end half of the time.
func (s *Source) place(n int) int {
	if s.one(2) {
		return n
	}
	return s.random.IntN(n + 1)
}

func (s *Source) addRule(f *guidon.Flag) {
	now := s.time()
	r := &guidon.Rule{ID: s.id(), CreatedAt: now, UpdatedAt: now}
	r.SegmentKeys, r.SegmentOperator = s.segmentKeys()
	for range s.random.IntN(3) {
		s.addDistribution(f, r)
	}
	for range s.random.IntN(4) / 2 * s.random.IntN(4) {
		s.editRuleAdditions(r)
	}
	f.Rules = slices.Insert(f.Rules, s.place(len(f.Rules)), r)
	Rank(f)
}

func (s *Source) addDistribution(f *guidon.Flag, r *guidon.Rule) {
	if len(f.Variants) == 0 || r.CodeDefault {
		return
	}
	now := s.time()
	r.Distributions = slices.Insert(r.Distributions, s.place(len(r.Distributions)), &guidon.Distribution{
		ID: s.id(), VariantID: pick(s, f.Variants...).ID, Rollout: s.percentage(), CreatedAt: now, UpdatedAt: now,
	})
}

func (s *Source) addRollout(f *guidon.Flag) {
	now := s.time()
	r := &guidon.Rollout{ID: s.id(), Description: s.text(), CreatedAt: now, UpdatedAt: now}
	if s.one(2) {
		r.Threshold = &guidon.RolloutThreshold{Percentage: s.percentage(), Value: s.one(2)}
	} else {
		r.Segment = &guidon.RolloutSegment{Value: s.one(2)}
		r.Segment.SegmentKeys, r.Segment.SegmentOperator = s.segmentKeys()
	}
	for range s.random.IntN(4) / 2 * s.random.IntN(4) {
		s.editRolloutAdditions(r)
	}
	f.Rollouts = slices.Insert(f.Rollouts, s.place(len(f.Rollouts)), r)
	Rank(f)
}

// Rank assigns the ranks 1, 2, 3, ….
func Rank(f *guidon.Flag) {
	for i, r := range f.Rules {
		r.Rank = int32(i + 1) // #nosec G115 -- few
	}
	for i, r := range f.Rollouts {
		r.Rank = int32(i + 1) // #nosec G115 -- few
	}
}

func (s *Source) addConstraint(g *guidon.Segment) {
	now := s.time()
	c := &guidon.Constraint{ID: s.id(), Description: s.text(), CreatedAt: now, UpdatedAt: now}
	s.setCondition(c)
	g.Constraints = slices.Insert(g.Constraints, s.place(len(g.Constraints)), c)
}

// setCondition gives the constraint a random type, property, operator and value.
func (s *Source) setCondition(c *guidon.Constraint) {
	from := pick(s,
		guidon.Constraint{Type: guidon.StringComparison, Operator: guidon.OpEQ, Value: "DE"},
		guidon.Constraint{Type: guidon.StringComparison, Operator: guidon.OpIsOneOf, Value: `["DE","FR"]`},
		guidon.Constraint{Type: guidon.NumberComparison, Operator: guidon.OpGTE, Value: "5"},
		guidon.Constraint{Type: guidon.BooleanComparison, Operator: guidon.OpTrue},
		guidon.Constraint{Type: guidon.DateTimeComparison, Operator: guidon.OpLT, Value: "2026-01-01"},
		guidon.Constraint{Type: guidon.EntityIDComparison, Operator: guidon.OpEQ, Value: "user-1"},
		guidon.Constraint{Type: guidon.VersionComparison, Operator: guidon.OpLT, Value: "2.4.0"},
		guidon.Constraint{Type: guidon.PatternComparison, Operator: guidon.OpEQ, Value: "^D"},
		guidon.Constraint{Type: guidon.ListComparison, Operator: guidon.OpAllOf, Value: `["DE","FR"]`},
		guidon.Constraint{Type: guidon.AddressComparison, Operator: guidon.OpIsOneOf, Value: `["192.0.2.0/24"]`},
	)
	c.Type, c.Operator, c.Value, c.Negate = from.Type, from.Operator, from.Value, s.one(4)
	c.Property = pick(s, "country", "plan", "version")
	if c.Type == guidon.EntityIDComparison {
		c.Property = "entityId"
	}
}

// Copy returns a deep copy of the object, without the position of its creation.
func Copy[T any](object *T) *T {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	out := new(T)
	if err := json.Unmarshal(text, out); err != nil {
		panic(err)
	}
	return out
}
