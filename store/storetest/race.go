//go:build race

package storetest

// raceEnabled reports whether the race detector is on, which makes everything slower.
const raceEnabled = true
