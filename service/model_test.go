package service_test

import (
	"fmt"
	"testing"

	"github.com/guidonhq/guidon/service/servicetest"
	"github.com/guidonhq/guidon/store/cache"
)

// TestModel checks random operations against a model.
func TestModel(t *testing.T) {
	for seed := range servicetest.Seeds(t, 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			servicetest.Run(t, cache.New(newStore(t)), seed, 150)
		})
	}
}

// TestApplyAmongWriters plans and applies while others write.
func TestApplyAmongWriters(t *testing.T) {
	for seed := range servicetest.Seeds(t, 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			servicetest.RunConcurrently(t, cache.New(newStore(t)), seed, 30)
		})
	}
}
