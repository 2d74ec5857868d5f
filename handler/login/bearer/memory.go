package bearer

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/guidonhq/guidon/service"
)

// Limits of a memory.
const (
	maxEntries = 10_000
	maxWeight  = 64 << 20 // bytes, approximately
)

// memory remembers accepted tokens by their digests. It is safe for concurrent use.
//
// Entries are in the order in which they were added. If there are too many, the oldest is
// removed, unless it was used since it was last checked: then it becomes the newest. So
// a client with a new token for each request does not displace tokens that are in use.
type memory struct {
	maxEntries, maxWeight int

	mu         sync.RWMutex
	generation uint64 // of the keys that verified the entries
	entries    map[[sha256.Size]byte]*list.Element
	order      *list.List // of *entry
	weight     int
}

type entry struct {
	digest   [sha256.Size]byte
	identity *service.Identity
	weight   int
	used     atomic.Bool
}

// valid reports whether a token that was accepted would be accepted now.
func (e *entry) valid(now time.Time) bool {
	return now.Before(e.identity.Expires.Add(service.ClockSkew))
}

func newMemory(maxEntries, maxWeight int) *memory {
	m := &memory{maxEntries: maxEntries, maxWeight: maxWeight}
	m.clear()
	return m
}

// clear removes all entries. m.mu must be held, unless m is new.
func (m *memory) clear() {
	m.entries, m.order, m.weight = map[[sha256.Size]byte]*list.Element{}, list.New(), 0
}

// has reports whether there is an entry, which may be invalid.
func (m *memory) has(digest [sha256.Size]byte) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.entries[digest] != nil
}

// get returns the identity of a token, or nil if it is not remembered, has expired or was
// verified with other keys than those of the generation.
func (m *memory) get(digest [sha256.Size]byte, generation uint64, now time.Time) *service.Identity {
	m.mu.RLock()
	defer m.mu.RUnlock()
	element := m.entries[digest]
	if element == nil || m.generation != generation {
		return nil
	}
	e := element.Value.(*entry)
	if !e.valid(now) {
		return nil
	}
	if !e.used.Load() { // storing each time would make processors wait for each other
		e.used.Store(true)
	}
	return e.identity
}

// put remembers a token that was verified with keys of the generation.
func (m *memory) put(digest [sha256.Size]byte, generation uint64, identity *service.Identity, now time.Time) {
	e := &entry{digest: digest, identity: identity, weight: weigh(identity)}
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation < m.generation || e.weight > m.maxWeight {
		return
	}
	if generation > m.generation {
		m.generation = generation
		m.clear()
	}
	if old := m.entries[digest]; old != nil {
		m.remove(old)
	}
	for len(m.entries) >= m.maxEntries || m.weight+e.weight > m.maxWeight {
		m.evict(now)
	}
	m.entries[digest] = m.order.PushBack(e)
	m.weight += e.weight
}

// evict removes the oldest entry, or makes it the newest if it is valid and was used. So
// it must be called again until there is room. m.mu must be held.
func (m *memory) evict(now time.Time) {
	oldest := m.order.Front()
	e := oldest.Value.(*entry)
	if e.valid(now) && e.used.Swap(false) {
		m.order.MoveToBack(oldest)
		return
	}
	m.remove(oldest)
}

// remove removes an entry. m.mu must be held.
func (m *memory) remove(element *list.Element) {
	e := element.Value.(*entry)
	m.order.Remove(element)
	delete(m.entries, e.digest)
	m.weight -= e.weight
}

// weigh returns about how many bytes an entry takes.
func weigh(identity *service.Identity) int {
	const base, item = 512, 64 // of an entry, and of each string with what holds it
	weight := base + len(identity.Subject)
	for _, s := range identity.Subjects {
		weight += item + len(s)
	}
	for _, s := range identity.Roles {
		weight += item + len(s)
	}
	for key, value := range identity.Metadata {
		weight += 2*item + len(key) + len(value)
	}
	return weight
}
