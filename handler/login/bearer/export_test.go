package bearer

import "github.com/guidonhq/guidon/service"

// SetMemory replaces the limits of the memory, which becomes empty.
func (v *Verifier) SetMemory(maxEntries, maxSize int) { v.memory = newMemory(maxEntries, maxSize) }

// Remembers returns the number and the size of the entries.
func (v *Verifier) Remembers() (entries, size int) {
	v.memory.mu.RLock()
	defer v.memory.mu.RUnlock()
	return len(v.memory.entries), v.memory.size
}

// MaxEntries is how many tokens are remembered.
const MaxEntries = maxEntries

// Remember remembers a token that was verified with keys of the generation.
func (v *Verifier) Remember(raw string, generation uint64, identity *service.Identity) {
	v.memory.put(raw, generation, identity, v.config.Now())
}
