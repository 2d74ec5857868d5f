//go:build !race

package bubble

// RaceDetector reports whether the race detector is on, which makes everything slower.
const RaceDetector = false
