package service_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/guidonhq/guidon/service/servicetest"
	"github.com/guidonhq/guidon/store/cache"
)

// TestModel checks random operations against a model. TEST_MODEL_SEEDS=1-1000 runs many
// seeds instead of a few.
func TestModel(t *testing.T) {
	for seed := range modelSeeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			servicetest.Run(t, cache.New(newStore(t)), seed, 150)
		})
	}
}

// TestApplyAmongWriters checks plans and applies while others write.
func TestApplyAmongWriters(t *testing.T) {
	for seed := range modelSeeds(t) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			servicetest.RunConcurrently(t, cache.New(newStore(t)), seed, 30)
		})
	}
}

// modelSeeds returns an iterator over the seeds.
func modelSeeds(t *testing.T) func(yield func(uint64) bool) {
	first, last := uint64(1), uint64(3)
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
