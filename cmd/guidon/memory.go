package main

import (
	"os"
	"runtime/debug"
)

// commandMemory is the soft memory limit, in bytes, of commands that process documents.
const commandMemory = 500 << 20

// limitMemory sets the memory limit of the Go runtime to commandMemory, unless
// GOMEMLIMIT is set.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commandMemory)
	}
}
