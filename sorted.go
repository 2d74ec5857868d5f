package guidon

import (
	"iter"
	"slices"
	"sort"
)

// Sorted is an immutable sorted list. A changed copy shares all chunks that the change
// does not touch, so changing one item takes about the same time in a list of any length.
// No two items may be equal in the order.
type Sorted[T any] struct {
	compare func(a, b T) int
	chunks  [][]T // none is empty
	length  int
}

// maxItems is the most items of a chunk.
const maxItems = 512

// NewSorted returns the list of the items in the order.
func NewSorted[T any](compare func(a, b T) int, items []T) Sorted[T] {
	return Sorted[T]{compare: compare}.With(nil, items)
}

// Len returns the number of items.
func (s Sorted[T]) Len() int { return s.length }

// All returns the items in order.
func (s Sorted[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, chunk := range s.chunks {
			for _, item := range chunk {
				if !yield(item) {
					return
				}
			}
		}
	}
}

// Backward returns the items in reverse order.
func (s Sorted[T]) Backward() iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := len(s.chunks) - 1; i >= 0; i-- {
			for j := len(s.chunks[i]) - 1; j >= 0; j-- {
				if !yield(s.chunks[i][j]) {
					return
				}
			}
		}
	}
}

// Part returns at most n items from the offset on.
func (s Sorted[T]) Part(offset, n int) []T {
	var part []T
	for _, chunk := range s.chunks {
		first := min(offset, len(chunk))
		part = append(part, chunk[first:min(first+n-len(part), len(chunk))]...)
		offset -= first
		if len(part) == n {
			break
		}
	}
	return part
}

// Find returns the item for which compare returns 0, and whether there is one. compare
// returns a negative number for the items before it, and a positive one for those after it.
func (s Sorted[T]) Find(compare func(item T) int) (found T, ok bool) {
	at := sort.Search(len(s.chunks), func(i int) bool { return compare(s.chunks[i][0]) > 0 }) - 1
	if at < 0 {
		return found, false
	}
	chunk := s.chunks[at]
	i, ok := sort.Find(len(chunk), func(i int) int { return -compare(chunk[i]) })
	if ok {
		found = chunk[i]
	}
	return found, ok
}

// With returns the list without the removed items, which it must contain, and with the
// added ones. An item that is removed and added is replaced.
func (s Sorted[T]) With(removed, added []T) Sorted[T] {
	removed, added = slices.Clone(removed), slices.Clone(added)
	slices.SortFunc(removed, s.compare)
	slices.SortFunc(added, s.compare)
	next := Sorted[T]{compare: s.compare, length: s.length - len(removed) + len(added)}
	next.chunks = make([][]T, 0, len(s.chunks)+len(added)/maxItems+1)
	rest := s.chunks
	for len(removed)+len(added) > 0 {
		at := s.chunkOf(rest, removed, added)
		next.chunks = append(next.chunks, rest[:at]...)
		rest = rest[at:]
		out, in := removed, added // of the first chunk of rest
		var chunk []T
		if len(rest) > 0 {
			chunk, rest = rest[0], rest[1:]
		}
		if len(rest) > 0 {
			out, in = s.before(removed, rest[0][0]), s.before(added, rest[0][0])
		}
		removed, added = removed[len(out):], added[len(in):]
		next.append(s.merge(chunk, out, in))
	}
	next.chunks = append(next.chunks, rest...)
	return next
}

// chunkOf returns the index of the chunk that the first change is in.
func (s Sorted[T]) chunkOf(chunks [][]T, removed, added []T) int {
	change := slices.Concat(removed[:min(1, len(removed))], added[:min(1, len(added))])
	first := slices.MinFunc(change, s.compare)
	after := sort.Search(len(chunks), func(i int) bool { return s.compare(chunks[i][0], first) > 0 })
	return max(after-1, 0)
}

// before returns the beginning of the items that is before the limit.
func (s Sorted[T]) before(items []T, limit T) []T {
	n, _ := slices.BinarySearchFunc(items, limit, s.compare)
	return items[:n]
}

// merge returns the items of the chunk without the removed and with the added ones.
func (s Sorted[T]) merge(chunk, removed, added []T) []T {
	if len(chunk) == 0 {
		return added
	}
	items := append(make([]T, 0, len(chunk)+len(added)), chunk...)
	for _, item := range removed {
		at, _ := slices.BinarySearchFunc(items, item, s.compare)
		items = slices.Delete(items, at, at+1)
	}
	for _, item := range added {
		at, _ := slices.BinarySearchFunc(items, item, s.compare)
		items = slices.Insert(items, at, item)
	}
	return items
}

// append appends the items, which nothing else uses, in chunks of equal size.
func (s *Sorted[T]) append(items []T) {
	if len(items) <= maxItems {
		if len(items) > 0 {
			s.chunks = append(s.chunks, items)
		}
		return
	}
	for n := (len(items) + maxItems - 1) / maxItems; n > 0; n-- {
		size := len(items) / n
		s.chunks = append(s.chunks, slices.Clone(items[:size])) // does not keep the others in memory
		items = items[size:]
	}
}
