//go:build race

package bubble

const RaceDetector = true
