// Package bubble runs tests in bubbles of [synctest].
package bubble

import (
	"runtime"
	"testing"
	"testing/synctest"
)

// Test is [synctest.Test]. With the race detector it lets one processor at a time run
// Go code, which still finds races: timers of a bubble that fire on two processors at
// once crash the detector (https://go.dev/issue/78156).
func Test(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	if RaceDetector {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	synctest.Test(t, f)
}
