package fliptdbtest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"time"
)

// The client tokens of the generated data.
const (
	Token        = "flipt-token-of-a-client"  // #nosec G101 -- of generated data
	ScopedToken  = "flipt-token-of-namespace" // #nosec G101 -- of generated data
	ExpiredToken = "flipt-token-of-the-past"  // #nosec G101 -- of generated data
)

// Hash returns the hash of a token as Flipt stores it (operations 1.4).
func Hash(token string) string {
	digest := sha256.Sum256([]byte(token))
	return base64.URLEncoding.EncodeToString(digest[:])
}

// generator generates rows. Each row is newer than the previous one.
type generator struct {
	*rand.Rand
	data *Data
	now  time.Time
}

// Generate returns data with rows in all tables, always the same for a seed. The rows are
// not in the order of their creation or rank.
func Generate(seed uint64) *Data {
	g := &generator{
		Rand: rand.New(rand.NewPCG(seed, 1)), data: &Data{}, // #nosec G404 -- reproducible
		now: time.Date(2023, 11, 12, 23, 59, 58, 987654000, time.UTC),
	}
	for _, key := range []string{"default", "second"} {
		g.namespace(key)
		for i := range 14 {
			g.segment(key, i)
		}
		for i := range 40 {
			g.flag(key, i)
		}
	}
	g.namespace("empty")
	g.authentications()
	g.shuffle()
	return g.data
}

func (g *generator) stamps() Stamps {
	g.now = g.now.Add(time.Duration(1+g.IntN(5e6)) * time.Microsecond)
	return Stamps{Created: g.now, Updated: g.now.Add(time.Duration(g.IntN(1e9)) * time.Microsecond)}
}

func (g *generator) id() string {
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", g.Uint32(), g.IntN(1<<16), g.IntN(1<<12), g.IntN(1<<12), g.Int64N(1<<48))
}

func (g *generator) coin() bool { return g.IntN(2) == 0 }

func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) namespace(key string) {
	g.data.Namespaces = append(g.data.Namespaces, Namespace{
		Key: key, Name: "Name of " + key, Description: "Größe " + key, Protected: key == "default", Stamps: g.stamps(),
	})
}

// constraint is a comparison type with its operators, and values for them.
type constraint struct {
	kind      int
	property  string
	operators []string
	values    []string
	lists     []string
}

var (
	texts    = []string{"bar", "Bar", " bar", "ab", "  abc", "xyz ", "yz", "ab cd", "b c", "x", "日本語", "   "}
	numbers  = []string{"5", "5.0", " 5", "abc", "1e1", "9.99", "Inf", "-Inf", "NaN", "10", "2.50", "0x10", "1e999", "-3"}
	booleans = []string{"T", "yes", "0", "true", "false", "FALSE", " true"}
	dates    = []string{"2024-01-01", "2024-01-01T01:00:00+01:00", "2023-12-31", "2024-01-01T00:00:00Z", "2024-01-01T00:00:00.5Z", "yesterday"}
	words    = []string{`["bar","x"]`, `["ab cd", "日本語"]`, `not json`, `[]`, `[1]`}
	floats   = []string{`[1, 2.5]`, `[5]`, `["5"]`, `[]`, `x`}
)

var constraints = []constraint{
	{1, "name",
		[]string{"eq", "neq", "empty", "notempty", "prefix", "suffix", "contains", "notcontains", "isoneof", "isnotoneof", "lt"}, texts, words},
	{2, "age", []string{"eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent", "isoneof", "isnotoneof", "prefix"}, numbers, floats},
	{3, "paid", []string{"true", "false", "present", "notpresent", "eq"}, []string{""}, nil},
	{4, "since", []string{"eq", "neq", "lt", "lte", "gt", "gte", "present", "notpresent", "isoneof", "isnotoneof"}, dates, words},
	{5, "entityId", []string{"eq", "neq", "contains", "notcontains", "isoneof", "isnotoneof"}, []string{"user-1", "user-2", "1"},
		[]string{`["user-3","user-4"]`, `{}`}},
}

func (g *generator) segment(namespace string, i int) {
	key := fmt.Sprintf("segment-%d", i)
	g.data.Segments = append(g.data.Segments, Segment{
		Namespace: namespace, Key: key, Name: "Segment " + key, Description: pick(g, []string{"", "who", "ünï"}), MatchType: g.IntN(2),
		Stamps: g.stamps(),
	})
	for range i % 4 { // the first, like every fourth, has none and matches every entity
		k := pick(g, constraints)
		c := Constraint{
			ID: g.id(), Namespace: namespace, Segment: key, Type: k.kind, Property: k.property, Operator: pick(g, k.operators),
			Value: pick(g, k.values), Description: pick(g, []string{"", "why"}), Stamps: g.stamps(),
		}
		if (c.Operator == "isoneof" || c.Operator == "isnotoneof") && k.lists != nil {
			c.Value = pick(g, k.lists)
		}
		g.data.Constraints = append(g.data.Constraints, c)
	}
}

func (g *generator) flag(namespace string, i int) {
	f := Flag{
		Namespace: namespace, Key: fmt.Sprintf("flag,%d_A", i), Name: "Flag", Description: pick(g, []string{"", "does"}),
		Enabled: g.IntN(4) > 0, Type: i % 2, Metadata: pick(g, []string{"", "{}", `{"team": {"name": "till", "size": 3}}`}), Stamps: g.stamps(),
	}
	var variants []string
	for n := range g.IntN(5) {
		v := Variant{
			ID: g.id(), Namespace: namespace, Flag: f.Key, Key: fmt.Sprintf("variant %d", n), Name: pick(g, []string{"", "V"}),
			Attachment: pick(g, []string{"", `{ "b" : [1, 2.50, null],  "a": "<&>" }`, `"text"`, "7"}), Stamps: g.stamps(),
		}
		variants = append(variants, v.ID)
		g.data.Variants = append(g.data.Variants, v)
	}
	if len(variants) > 0 && g.coin() {
		f.Default = pick(g, variants)
	}
	g.data.Flags = append(g.data.Flags, f)
	if f.Type == 0 || i%10 == 1 { // rules of boolean flags are stored but never used
		g.rules(f, variants)
	}
	if f.Type == 1 {
		g.rollouts(f)
	}
}

func (g *generator) rules(f Flag, variants []string) {
	ranks := g.Perm(9)
	for n := range g.IntN(5) {
		r := Rule{ID: g.id(), Namespace: f.Namespace, Flag: f.Key, Rank: ranks[n] + 1, Operator: g.IntN(2), Stamps: g.stamps()}
		g.data.Rules = append(g.data.Rules, r)
		g.data.RuleSegments = append(g.data.RuleSegments, g.references(r.ID, f.Namespace)...)
		for _, v := range variants {
			if share := pick(g, []float32{-1, 0, 0.05, 10, 33.33, 33.34, 12.345, 50, 60, 100}); share >= 0 {
				g.data.Distributions = append(g.data.Distributions,
					Distribution{ID: g.id(), Rule: r.ID, Variant: v, Rollout: share, Stamps: g.stamps()})
			}
		}
	}
}

func (g *generator) references(owner, namespace string) []Reference {
	var all []Reference
	for _, n := range g.Perm(14)[:1+g.IntN(3)] {
		all = append(all, Reference{Owner: owner, Namespace: namespace, Segment: fmt.Sprintf("segment-%d", n)})
	}
	return all
}

func (g *generator) rollouts(f Flag) {
	ranks := g.Perm(9)
	for n := range g.IntN(5) {
		r := Rollout{ID: g.id(), Namespace: f.Namespace, Flag: f.Key, Type: 1 + g.IntN(2), Description: "r", Rank: ranks[n], Stamps: g.stamps()}
		g.data.Rollouts = append(g.data.Rollouts, r)
		if r.Type == 2 {
			g.data.Thresholds = append(g.data.Thresholds, Threshold{
				ID: g.id(), Namespace: f.Namespace, Rollout: r.ID, Percentage: pick(g, []float32{0, 5, 12.5, 50, 99.9, 100}), Value: g.coin(),
			})
			continue
		}
		s := RolloutSegment{ID: g.id(), Rollout: r.ID, Value: g.coin(), Operator: g.IntN(2)}
		g.data.RolloutSegments = append(g.data.RolloutSegments, s)
		g.data.RolloutRefs = append(g.data.RolloutRefs, g.references(s.ID, f.Namespace)...)
	}
}

func (g *generator) authentications() {
	for _, a := range []Authentication{
		{Hash: Hash(Token), Method: 1,
			Metadata: `{"io.flipt.auth.token.name":"client","io.flipt.auth.token.description":"all of it","team":"till"}`},
		{Hash: Hash(ScopedToken), Method: 1, Metadata: `{"io.flipt.auth.token.name":"scoped","io.flipt.auth.token.namespace":"second"}`,
			Expires: time.Date(2199, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Hash: Hash(ExpiredToken), Method: 1, Metadata: `{"io.flipt.auth.token.name":"past"}`,
			Expires: time.Date(2023, 12, 24, 1, 2, 3, 456789000, time.UTC)},
		{Hash: Hash("oidc"), Method: 2, Metadata: `{"io.flipt.auth.oidc.email":"a@example.com","io.flipt.auth.email":"a@example.com"}`,
			Expires: time.Date(2199, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Hash: Hash("pod"), Method: 3, Metadata: `{"io.flipt.auth.k8s.pod.name":"p"}`, Expires: time.Date(2199, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Hash: Hash("github"), Method: 4},
	} {
		a.ID, a.Stamps = g.id(), g.stamps()
		g.data.Authentications = append(g.data.Authentications, a)
	}
}

// shuffle puts the rows of each table into random order.
func (g *generator) shuffle() {
	d := g.data
	mix(g, d.Namespaces)
	mix(g, d.Segments)
	mix(g, d.Constraints)
	mix(g, d.Flags)
	mix(g, d.Variants)
	mix(g, d.Rules)
	mix(g, d.Distributions)
	mix(g, d.Rollouts)
	mix(g, d.Authentications)
}

func mix[T any](g *generator, list []T) {
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
