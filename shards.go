package guidon

import (
	"hash/maphash"
	"maps"
	"slices"
)

// shards is an immutable map in parts. An edited copy shares all parts but those of the
// edited keys, so editing one key takes about the same time in a map of any size.
type shards[V any] struct {
	parts  []map[string]*V
	length int
}

// Sizes of a part, on average.
const (
	usualShard = 128 // when the parts are made
	maxShard   = 512 // more parts are made if it is exceeded
)

var shardSeed = maphash.MakeSeed()

// get returns the value of the key, or nil.
func (s shards[V]) get(key string) *V { return s.parts[s.part(key)][key] }

// part returns the index of the part with the key.
func (s shards[V]) part(key string) uint64 {
	if len(s.parts) == 1 {
		return 0
	}
	return maphash.String(shardSeed, key) % uint64(len(s.parts))
}

// shardsEditor builds shards. It must not be used after its shards are in use.
type shardsEditor[V any] struct {
	shards[V]
	own []bool // the parts that are not shared
}

// newShards returns an editor of an empty map with room for so many entries.
func newShards[V any](room int) *shardsEditor[V] {
	e := &shardsEditor[V]{own: make([]bool, room/usualShard+1)}
	for i := range e.own {
		e.own[i], e.parts = true, append(e.parts, make(map[string]*V, room/len(e.own)))
	}
	return e
}

// edit returns an editor of a copy with room for so many more entries.
func (s shards[V]) edit(room int) *shardsEditor[V] {
	if s.length+room <= maxShard*len(s.parts) {
		return &shardsEditor[V]{shards[V]{slices.Clone(s.parts), s.length}, make([]bool, len(s.parts))}
	}
	e := newShards[V](s.length + room)
	for _, part := range s.parts {
		for key, value := range part {
			e.set(key, value)
		}
	}
	return e
}

// set sets the value of the key, or deletes the key if the value is nil.
func (e *shardsEditor[V]) set(key string, value *V) {
	i := e.part(key)
	if !e.own[i] {
		e.own[i], e.parts[i] = true, maps.Clone(e.parts[i])
	}
	e.length -= len(e.parts[i])
	if value == nil {
		delete(e.parts[i], key)
	} else {
		e.parts[i][key] = value
	}
	e.length += len(e.parts[i])
}
