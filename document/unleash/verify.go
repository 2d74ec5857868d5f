package unleash

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// Difference is a generated user to whom Guidon gives another answer than Unleash.
type Difference struct {
	Flag    string
	User    *User
	Unleash Answer
	Guidon  Answer
}

// Verification is the comparison of an environment with a document.
type Verification struct {
	Evaluations int
	Different   int          // of the evaluations
	Differences []Difference // the first of them, at most maxListed
}

const maxListed = 20

// Verify evaluates each flag of the document for n generated users, as Unleash does and as Guidon
// does. It calls verified with the number of users after each flag.
func (e *Environment) Verify(
	ctx context.Context, d *service.Document, n int, now time.Time, verified func(users int),
) (*Verification, error) {
	objects, err := d.Objects()
	if err != nil {
		return nil, err
	}
	snapshot := guidon.NewSnapshot(objects.Namespace, guidon.Revision{}, objects.Flags, objects.Segments)
	v := &Verification{}
	for _, flag := range objects.Flags {
		f, at := e.feature(flag.Key), map[int64]*guidon.CompiledFlag{} // by the time
		for u := range e.Users(f, n, now) {
			if v.Evaluations%1000 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if at[u.At.Unix()] == nil {
				at[u.At.Unix()] = snapshot.At(u.At).Compiled(flag.Key)
			}
			got, err := answer(at[u.At.Unix()], u)
			if err != nil {
				return nil, err
			}
			v.add(Difference{f.Name, u, e.Evaluate(f, u), got})
		}
		verified(n)
	}
	return v, nil
}

func (v *Verification) add(d Difference) {
	v.Evaluations++
	if d.Unleash == d.Guidon {
		return
	}
	if v.Different++; v.Different <= maxListed {
		v.Differences = append(v.Differences, d)
	}
}

// answer evaluates a flag as the engine does. A variant flag is enabled for those who have a
// variant.
func answer(flag *guidon.CompiledFlag, u *User) (Answer, error) {
	id := u.Properties[userID]
	if flag.Kind() == guidon.BooleanFlag {
		result, err := flag.Boolean(id, u.Properties)
		return Answer{Enabled: result.Enabled}, err
	}
	result, err := flag.Variant(id, u.Properties)
	return Answer{result.VariantKey != "", result.VariantKey}, err
}

// Users returns n users that distinguish the strategies of the feature. They are the same each
// time.
func (e *Environment) Users(f *Feature, n int, now time.Time) iter.Seq[*User] {
	return func(yield func(*User) bool) {
		g := e.generatorFor(f, now)
		found := make([]*User, max(len(f.Strategies), 1)) // for each strategy the last one that it is for
		for i := range n {
			at := i % len(found)
			u := g.user(i, found[at])
			if at < len(f.Strategies) && e.applies(&f.Strategies[at], u) {
				found[at] = u
			}
			if !yield(u) {
				return
			}
		}
	}
}

// generator makes users for a feature.
type generator struct {
	random     *rand.Rand
	properties []string            // in a stable order
	values     map[string][]string // that are compared with
	times      []time.Time
}

func (e *Environment) generatorFor(f *Feature, now time.Time) *generator {
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(f.Name)) // which cannot fail
	g := &generator{
		random: rand.New(rand.NewPCG(seed.Sum64(), 0)), // #nosec G404 -- the same users each time
		values: map[string][]string{userID: nil}, times: []time.Time{now},
	}
	g.feature(e, f)
	for _, d := range f.Dependencies {
		if parent := e.feature(d.Feature); parent != nil {
			g.feature(e, parent)
		}
	}
	g.properties = slices.Sorted(maps.Keys(g.values))
	return g
}

func (g *generator) feature(e *Environment, f *Feature) {
	g.variants(f.Variants)
	for i := range f.Strategies {
		s := &f.Strategies[i]
		g.constraints(s.Constraints)
		for _, id := range s.Segments {
			if segment := e.segments[id]; segment != nil && segment.Constraints != nil {
				g.constraints(*segment.Constraints)
			}
		}
		g.add(userID, s.list("userIds"))
		g.addresses(s.list("IPs"))
		g.stickiness(string(s.Parameters["stickiness"]))
		if s.Name == "gradualRolloutSessionId" {
			g.stickiness("sessionId")
		}
		g.variants(s.Variants)
	}
}

func (g *generator) add(property string, values []string) {
	g.values[property] = append(g.values[property], values...)
}

func (g *generator) addresses(blocks []string) {
	for _, block := range blocks {
		address, _, _ := strings.Cut(block, "/")
		network := address[:strings.LastIndexByte(address, '.')+1]
		g.add("remoteAddress", []string{address, "::ffff:" + address, "2001:db8::1"})
		for _, last := range []string{"1", "77", "130", "254"} {
			g.add("remoteAddress", []string{network + last})
		}
	}
}

func (g *generator) stickiness(name string) {
	if name != "" && name != "default" && name != "random" {
		g.add(name, nil)
	}
}

func (g *generator) variants(variants []variant) {
	for _, v := range variants {
		g.stickiness(v.Stickiness)
		for _, o := range v.Overrides {
			g.add(o.ContextName, o.Values)
		}
	}
}

func (g *generator) constraints(constraints []constraint) {
	for _, c := range constraints {
		at, err := time.Parse(time.RFC3339, string(c.Value))
		switch {
		case c.ContextName != currentTime:
			g.add(c.ContextName, c.Values)
			g.add(c.ContextName, []string{string(c.Value)})
		case err == nil:
			g.times = append(g.times, at.Add(-time.Second), at.Add(time.Second))
		}
	}
}

// user returns the nth user: like another one but for one property and the time, or a new one.
func (g *generator) user(n int, like *User) *User {
	u := &User{map[string]string{}, g.times[g.random.IntN(len(g.times))]}
	change := g.properties
	if like != nil && g.random.IntN(4) > 0 {
		i := g.random.IntN(len(g.properties))
		u.Properties, change = maps.Clone(like.Properties), g.properties[i:i+1]
	}
	for _, property := range change {
		if value := g.value(property, n); value != "" {
			u.Properties[property] = value
		} else {
			delete(u.Properties, property)
		}
	}
	return u
}

// value returns a value of the property, or "" if it is missing.
func (g *generator) value(property string, n int) string {
	values := g.values[property]
	switch choice := g.random.IntN(10); {
	case choice == 0 && property != userID:
		return ""
	case choice < 3 || len(values) == 0:
		return strconv.FormatUint(g.random.Uint64N(uint64(n)+1), 10) // #nosec G115 -- not negative
	case choice == 3:
		return fmt.Sprint(property, "-", n)
	}
	value := values[g.random.IntN(len(values))]
	if property != "remoteAddress" {
		value = g.near(value, values)
	}
	return cmp.Or(value, "1")
}

// near returns the value itself, or one that resembles it or combines it with another one.
func (g *generator) near(value string, values []string) string {
	if value == "" || !isASCII(value) {
		return value
	}
	const letters = "0123456789.-xX"
	letter, last := string(letters[g.random.IntN(len(letters))]), len(value)-1
	at := g.random.IntN(len(value))
	switch g.random.IntN(14) {
	case 0:
		return strings.ToUpper(value)
	case 1:
		return strings.ToLower(value)
	case 2:
		return value[:at]
	case 3:
		return value[:at] + letter + value[at:]
	case 4:
		return value[:at] + letter + value[at+1:]
	case 5:
		return value + values[g.random.IntN(len(values))]
	case 6:
		return "v" + value
	case 7, 8:
		return value[:last] + string(rune(value[last])-1+2*g.random.Int32N(2)) // one less or more
	}
	return value
}
