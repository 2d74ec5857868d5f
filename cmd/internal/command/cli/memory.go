package cli

import (
	"os"
	"runtime/debug"
)

// commandMemory is the soft memory limit, in bytes, of commands that process documents.
const commandMemory = 500 << 20

// LimitMemory sets the memory limit of the Go runtime to commandMemory, unless
// GOMEMLIMIT is set.
func LimitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commandMemory)
	}
}
