package instance

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestRequestMemory(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name       string
		configured int
		limit      int64
		want       int64
	}{
		{"configured", 100, math.MaxInt64, 100 * mib},
		{"configured, whatever the limit", 100, 200 * mib, 100 * mib},
		{"no limit", 0, math.MaxInt64, 64 * mib},
		{"an eighth of the limit", 0, 448 * mib, 56 * mib},
		{"no less than it takes to answer large requests", 0, 100 * mib, 32 * mib},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer debug.SetMemoryLimit(debug.SetMemoryLimit(test.limit))
			if got := requestMemory(test.configured); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}
