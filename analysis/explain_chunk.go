package analysis

// chunk is memory for many small slices, which would otherwise be allocated one by one.
type chunk[T any] struct{ free []T }

// Sizes of chunks, in items.
const (
	minChunk = 16
	maxChunk = 256
)

// take returns a zero slice of n items. steps is the number of steps of the flag, from which
// the size of the first chunk is estimated.
func (c *chunk[T]) take(n, steps int) []T {
	if n > len(c.free) {
		c.free = make([]T, max(n, min(max(2*steps, minChunk), maxChunk)))
	}
	taken := c.free[:n:n]
	c.free = c.free[n:]
	return taken
}
