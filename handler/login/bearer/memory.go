package bearer

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/guidonhq/guidon/service"
)

// Limits of a memory.
const (
	maxEntries = 10_000
	maxSize    = 32 << 20 // bytes of all entries
)

// memory remembers accepted tokens by their digests. It is safe for concurrent use. When it is full, it
// forgets those that have expired, and then any, until a tenth is free.
type memory struct {
	maxEntries, maxSize int

	mu         sync.RWMutex
	generation uint64 // of the keys that verified the entries
	entries    map[[sha256.Size]byte]entry
	size       int // of all entries
}

type entry struct {
	identity *service.Identity
	size     int // in bytes, about
}

// listed is about how many bytes a subject or role of an identity takes besides its text.
const listed = 32

// valid reports whether a token that was accepted would be accepted now.
func (e entry) valid(now time.Time) bool {
	return now.Before(e.identity.Expires.Add(service.ClockSkew))
}

func newMemory(maxEntries, maxSize int) *memory {
	return &memory{maxEntries: maxEntries, maxSize: maxSize, entries: map[[sha256.Size]byte]entry{}}
}

// has reports whether there is an entry, which may be invalid.
func (m *memory) has(digest [sha256.Size]byte) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, found := m.entries[digest]
	return found
}

// get returns the identity of a token, or nil if it is not remembered, has expired or was
// verified with other keys than those of the generation.
func (m *memory) get(digest [sha256.Size]byte, generation uint64, now time.Time) *service.Identity {
	m.mu.RLock()
	defer m.mu.RUnlock()
	e, found := m.entries[digest]
	if !found || m.generation != generation || !e.valid(now) {
		return nil
	}
	return e.identity
}

// put remembers a token that was verified with keys of the generation, unless there are newer
// ones already. It forgets all tokens of older ones.
func (m *memory) put(raw string, generation uint64, identity *service.Identity, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation < m.generation {
		return
	}
	if generation > m.generation {
		clear(m.entries)
		m.generation, m.size = generation, 0
	}
	e := entry{identity, len(raw) + listed*(len(identity.Subjects)+len(identity.Roles))}
	if len(m.entries) >= m.maxEntries || m.size+e.size > m.maxSize {
		m.shrink(now)
	}
	digest := digestOf(raw)
	m.remove(digest)
	m.entries[digest] = e
	m.size += e.size
}

// shrink makes room. m.mu must be held.
func (m *memory) shrink(now time.Time) {
	for digest, e := range m.entries {
		if !e.valid(now) {
			m.remove(digest)
		}
	}
	for digest := range m.entries {
		if len(m.entries) <= m.maxEntries*9/10 && m.size <= m.maxSize*9/10 {
			return
		}
		m.remove(digest)
	}
}

// remove removes the entry if there is one. m.mu must be held.
func (m *memory) remove(digest [sha256.Size]byte) {
	m.size -= m.entries[digest].size
	delete(m.entries, digest)
}
