package service_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// deltaMaker makes random deltas, and applies them to a plain list as well.
type deltaMaker struct {
	random   *rand.Rand
	stored   []*service.Authentication // in creation order
	revision int64
}

// next returns a delta that deletes, changes, replaces and creates authentications.
// Hashes pass from one authentication to another.
func (m *deltaMaker) next() service.AuthenticationDelta {
	m.revision++
	d := service.AuthenticationDelta{Revision: guidon.Revision{Number: m.revision, Stamp: m.random.Int64()}}
	m.stored = slices.Clone(m.stored)
	for range m.random.IntN(3) {
		if len(m.stored) > 0 {
			i := m.random.IntN(len(m.stored))
			d.Deleted = append(d.Deleted, m.stored[i].ID)
			m.stored = slices.Delete(m.stored, i, i+1)
		}
	}
	d.Changed = m.change()
	for range m.random.IntN(4) {
		a := m.authentication(deltaIDs[m.random.IntN(len(deltaIDs))], m.freeHash())
		if !slices.ContainsFunc(m.stored, func(b *service.Authentication) bool { return b.ID == a.ID }) {
			d.Created, m.stored = append(d.Created, a), append(m.stored, a)
		}
	}
	return d
}

// change gives two authentications the hashes of each other, and a third a new one.
func (m *deltaMaker) change() (changed []*service.Authentication) {
	if len(m.stored) < 3 {
		return nil
	}
	chosen := m.random.Perm(len(m.stored))[:3]
	a, b, c := chosen[0], chosen[1], chosen[2]
	hashes := []string{m.stored[b].TokenHash, m.stored[a].TokenHash, m.freeHash()}
	for n, i := range []int{a, b, c} {
		m.stored[i] = m.authentication(m.stored[i].ID, hashes[n])
		changed = append(changed, m.stored[i])
	}
	return changed
}

func (m *deltaMaker) authentication(id, hash string) *service.Authentication {
	return &service.Authentication{ID: id, TokenHash: hash, Metadata: map[string]string{"n": fmt.Sprint(m.random.Int())}}
}

// The ids and hashes of all authentications of the deltas.
var deltaIDs, deltaHashes = numbered("id-", 40), numbered("hash-", 100)

func numbered(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

// freeHash returns a hash that no stored authentication has, but perhaps one had.
func (m *deltaMaker) freeHash() string {
	for {
		hash := deltaHashes[m.random.IntN(len(deltaHashes))]
		if !slices.ContainsFunc(m.stored, func(a *service.Authentication) bool { return a.TokenHash == hash }) {
			return hash
		}
	}
}

// Sets that follow one another by deltas find exactly what a set made of the same
// authentications finds, however many changes there are, and earlier sets stay as they
// were.
func TestAuthenticationSetApply(t *testing.T) {
	for seed := range uint64(3) {
		m := &deltaMaker{random: rand.New(rand.NewPCG(seed, 1))} // #nosec G404 -- repeatable, for tests
		set := service.NewAuthenticationSet(guidon.Revision{}, nil)
		var sets []*service.AuthenticationSet
		var lists [][]*service.Authentication
		for range 300 {
			deltas := []service.AuthenticationDelta{m.next()}
			for m.random.IntN(3) == 0 {
				deltas = append(deltas, m.next())
			}
			before := set
			set = set.Apply(deltas...)
			before.Apply(service.AuthenticationDelta{Created: []*service.Authentication{{ID: "elsewhere"}}}) // must not affect set
			if got, want := set.Revision(), deltas[len(deltas)-1].Revision; got != want {
				t.Fatalf("seed %d: got revision %v, want %v", seed, got, want)
			}
			sets, lists = append(sets, set), append(lists, m.stored)
			wantContents(t, set, m.stored)
		}
		for i := range sets {
			wantContents(t, sets[i], lists[i])
		}
	}
}

// wantContents checks that the set finds the stored authentications, and nothing else
// by the other ids and hashes.
func wantContents(t *testing.T, set *service.AuthenticationSet, stored []*service.Authentication) {
	t.Helper()
	same := func(a, b *service.Authentication) bool {
		return a.ID == b.ID && a.TokenHash == b.TokenHash && maps.Equal(a.Metadata, b.Metadata)
	}
	if !slices.EqualFunc(stored, set.All(), same) {
		diff := cmp.Diff(stored, set.All(), cmpopts.IgnoreUnexported(service.Authentication{}))
		t.Fatalf("revision %d (-want +got):\n%s", set.Revision().Number, diff)
	}
	byID, byHash := map[string]*service.Authentication{}, map[string]*service.Authentication{}
	for _, a := range set.All() {
		byID[a.ID], byHash[a.TokenHash] = a, a
	}
	for _, id := range deltaIDs {
		if got := set.ByID(id); got != byID[id] {
			t.Fatalf("revision %d: by id %q: got %v, want %v", set.Revision().Number, id, got, byID[id])
		}
	}
	for _, hash := range deltaHashes {
		if got := set.ByTokenHash(hash); got != byHash[hash] {
			t.Fatalf("revision %d: by hash %q: got %v, want %v", set.Revision().Number, hash, got, byHash[hash])
		}
	}
}

// A set has the bindings of the last delta that has any, and never changes.
func TestAuthenticationSetBindings(t *testing.T) {
	bindings := func(n int) *service.Bindings {
		return service.NewBindings([]*service.Binding{{ID: fmt.Sprint(n), Role: service.RoleViewer, Subject: "jwt:*", Namespaces: []string{"*"}}})
	}
	created := func(n int) []*service.Authentication {
		return []*service.Authentication{{ID: fmt.Sprint("id-", n), TokenHash: fmt.Sprint("hash-", n)}}
	}
	set := service.NewAuthenticationSet(guidon.Revision{}, nil)
	want := (*service.Bindings)(nil)
	for n := range 600 {
		before, held := set, set.Bindings()
		d := service.AuthenticationDelta{Revision: guidon.Revision{Number: int64(n) + 1}}
		if n%3 != 0 {
			d.Bindings = bindings(n)
			want = d.Bindings
		}
		if n%3 == 0 || n%5 == 0 {
			d.Created = created(n)
		}
		set = set.Apply(d)
		if set.Bindings() != want || before.Bindings() != held {
			t.Fatalf("step %d: got %v, want %v; the set before has %v, want %v", n, set.Bindings(), want, before.Bindings(), held)
		}
		if set.ByID(fmt.Sprint("id-", n)) == nil != (d.Created == nil) || set.Revision() != d.Revision {
			t.Fatalf("step %d: the set is at %v", n, set.Revision())
		}
	}
}

// Changed and deleted ids that the set does not contain are ignored.
func TestAuthenticationSetApplyUnknown(t *testing.T) {
	known := &service.Authentication{ID: "id-1", TokenHash: "hash-1"}
	unknown := &service.Authentication{ID: "id-2", TokenHash: "hash-2"}
	set := service.NewAuthenticationSet(guidon.Revision{}, []*service.Authentication{known})
	next := set.Apply(service.AuthenticationDelta{Changed: []*service.Authentication{unknown}, Deleted: []string{"id-3"}})
	wantContents(t, next, []*service.Authentication{known})
}

// fixedTokens is a store that has only a set of authentications.
type fixedTokens struct {
	service.Store
	set *service.AuthenticationSet
}

func (f *fixedTokens) Authentications(context.Context, service.Demand, string) (*service.AuthenticationSet, time.Duration, error) {
	return f.set, 0, nil
}

// A capability is accepted as long as its token exists with the hash that signed it,
// whatever has happened to others.
func TestCapabilityAfterChanges(t *testing.T) {
	now := time.Now()
	tokens := &fixedTokens{set: service.NewAuthenticationSet(guidon.Revision{}, nil)}
	s := service.NewService(tokens, func() time.Time { return now })
	token := func(id, hash string) *service.Authentication { return &service.Authentication{ID: id, TokenHash: hash} }
	list := func(all ...*service.Authentication) []*service.Authentication { return all }
	a, rotated, again, b := token("a", "1"), token("a", "2"), token("a", "3"), token("b", "4")
	for _, step := range []struct {
		name  string
		delta service.AuthenticationDelta
		valid []*service.Authentication
	}{
		{"created", service.AuthenticationDelta{Created: list(a)}, list(a)},
		{"another created", service.AuthenticationDelta{Created: list(b)}, list(a, b)},
		{"rotated", service.AuthenticationDelta{Changed: list(rotated)}, list(rotated, b)},
		{"deleted", service.AuthenticationDelta{Deleted: []string{"a"}}, list(b)},
		{"created again", service.AuthenticationDelta{Created: list(again)}, list(again, b)},
		{"the other deleted", service.AuthenticationDelta{Deleted: []string{"b"}}, list(again)},
	} {
		whole := service.NewAuthenticationSet(guidon.Revision{}, tokens.set.All())
		for _, base := range []*service.AuthenticationSet{tokens.set, whole} {
			tokens.set = base.Apply(step.delta)
			for _, signer := range list(a, rotated, again, b) {
				capability := signer.Capability("shop", now.Add(time.Hour))
				_, _, _, err := s.AuthenticateListener(t.Context(), service.Demand{}, "shop", capability, now)
				if got, want := err == nil, slices.Contains(step.valid, signer); got != want {
					t.Errorf("%s: the capability of %s with hash %s: accepted is %t, want %t", step.name, signer.ID, signer.TokenHash, got, want)
				}
			}
		}
	}
}

// Several goroutines may apply the same delta; the race detector checks that they do
// not write to it.
func TestAuthenticationSetApplyConcurrently(t *testing.T) {
	set := service.NewAuthenticationSet(guidon.Revision{}, nil)
	d := service.AuthenticationDelta{Created: []*service.Authentication{{ID: "a", TokenHash: "1"}}}
	var applying sync.WaitGroup
	for range 4 {
		applying.Go(func() {
			if got := set.Apply(d).ByID("a").Actor().ID; got != "token:a" {
				t.Errorf("got actor %q", got)
			}
		})
	}
	applying.Wait()
}

// BenchmarkAuthenticationSetApply is the cost of one sign-in in the memory of an
// instance.
func BenchmarkAuthenticationSetApply(b *testing.B) {
	const many = 20_000
	all := make([]*service.Authentication, many)
	for i := range all {
		all[i] = &service.Authentication{ID: service.NewID(), TokenHash: service.HashToken(fmt.Sprint(i))}
	}
	set := service.NewAuthenticationSet(guidon.Revision{}, all)
	b.ReportAllocs()
	for b.Loop() {
		set = set.Apply(service.AuthenticationDelta{Created: []*service.Authentication{
			{ID: service.NewID(), TokenHash: service.NewID()},
		}})
	}
}
