package instance

import (
	"math"
	"runtime/debug"

	"github.com/guidonhq/guidon/handler"
)

// What requests may take of the memory if the configuration does not say.
const (
	leastRequestMemory   = 32 << 20
	defaultRequestMemory = 64 << 20
	requestMemoryShare   = 14 // the part of Go's memory limit
	importMemoryShare    = 5
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

// importMemory returns the limit, in bytes, of what the document of an import takes:
// the collector and the state that the import makes need as much again.
func importMemory() int64 {
	return min(debug.SetMemoryLimit(-1)/importMemoryShare, handler.DefaultImportMemory)
}
