package main

import (
	"os"
	"runtime/debug"
)

// commandMemory is what a command that moves documents tries to stay below, in bytes.
const commandMemory = 500 << 20

// limitMemory makes the garbage collector work harder where memory gets scarce, unless
// GOMEMLIMIT says from when on.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(commandMemory)
	}
}
