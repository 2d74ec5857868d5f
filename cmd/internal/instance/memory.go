package instance

import (
	"math"
	"runtime"
	"runtime/debug"

	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/management"
)

// Limits on the memory of requests if not configured. The shares are the divisors of
// Go's memory limit.
const (
	leastRequestMemory   = 32 << 20
	defaultRequestMemory = 64 << 20
	requestMemoryShare   = 14
	importMemoryShare    = 5
	turnShare            = 4         // of all heavy operations at a time
	largeTurn            = 256 << 20 // for one with the largest objects
)

// newBudget returns the budget of the requests in progress. Heavy operations have a turn for
// every second processor, as far as the memory suffices, and at least one.
func newBudget(configured int) *limit.Budget {
	b := limit.NewBudget(requestMemory(configured))
	turn := b.Heavy.NewTurn()
	fitting := debug.SetMemoryLimit(-1) / turnShare / min(turn.Room(), largeTurn)
	b.Heavy = b.Heavy.WithTurns(int(max(1, min(fitting, int64(runtime.GOMAXPROCS(0)/2)))))
	return b
}

// requestMemory returns the limit, in bytes, on the memory of requests in progress.
// configured is in MiB; if it is 0, the limit depends on that of the Go runtime.
func requestMemory(configured int) int64 {
	if configured > 0 {
		return int64(configured) << 20
	}
	limit := debug.SetMemoryLimit(-1) // returns the current limit
	if limit == math.MaxInt64 {
		return defaultRequestMemory
	}
	return max(limit/requestMemoryShare, leastRequestMemory)
}

// importMemory returns the limit, in bytes, on the memory of an imported document. The
// garbage collector and the state that the import creates need as much again.
func importMemory() int64 {
	return min(debug.SetMemoryLimit(-1)/importMemoryShare, management.DefaultImportMemory)
}
