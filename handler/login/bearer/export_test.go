package bearer

import "github.com/guidonhq/guidon/service"

// SetMemory replaces the limits of the memory, which becomes empty.
func (v *Verifier) SetMemory(maxEntries, maxWeight int) { v.memory = newMemory(maxEntries, maxWeight) }

// Remembers returns the number and the weight of the entries.
func (v *Verifier) Remembers() (entries, weight int) {
	v.memory.mu.RLock()
	defer v.memory.mu.RUnlock()
	return v.memory.order.Len(), v.memory.weight
}

// MaxEntries is how many tokens are remembered.
const MaxEntries = maxEntries

// Remember remembers a token that was verified with keys of the generation.
func (v *Verifier) Remember(raw string, generation uint64, identity *service.Identity) {
	v.memory.put(digestOf(raw), generation, identity, v.config.Now())
}
