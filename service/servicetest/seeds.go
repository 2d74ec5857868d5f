package servicetest

import (
	"fmt"
	"iter"
	"os"
	"testing"
)

// Seeds returns an iterator over the seeds from 1 to count, or over those of the
// environment: TEST_MODEL_SEEDS=1-1000 runs many of them.
func Seeds(t *testing.T, count uint64) iter.Seq[uint64] {
	t.Helper()
	first, last := uint64(1), count
	if text := os.Getenv("TEST_MODEL_SEEDS"); text != "" {
		if _, err := fmt.Sscanf(text, "%d-%d", &first, &last); err != nil {
			t.Fatalf("TEST_MODEL_SEEDS must be a range such as 1-1000: %v", err)
		}
	}
	return func(yield func(uint64) bool) {
		for seed := first; seed <= last && yield(seed); seed++ {
		}
	}
}
