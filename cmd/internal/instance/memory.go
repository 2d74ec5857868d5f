package instance

import (
	"math"
	"runtime/debug"
)

// What requests may take of the memory if the configuration does not say.
const (
	leastRequestMemory   = 32 << 20
	defaultRequestMemory = 64 << 20
	requestMemoryShare   = 8 // the part of Go's memory limit
)

// requestMemory returns the limit, in bytes, of what requests in progress take.
// configured is in MiB; 0 lets it follow from the memory limit of the Go runtime.
func requestMemory(configured int) int64 {
	if configured > 0 {
		return int64(configured) << 20
	}
	limit := debug.SetMemoryLimit(-1) // which only returns it
	if limit == math.MaxInt64 {
		return defaultRequestMemory
	}
	return max(limit/requestMemoryShare, leastRequestMemory)
}
