package service_test

import (
	"regexp"
	"testing"

	"github.com/guidonhq/guidon/service"
)

// TestNewID: ids are unique UUIDs of version 4 (contract 2).
func TestNewID(t *testing.T) { testIDs(t, service.NewID) }

// TestNewRequestID: request ids have the same form.
func TestNewRequestID(t *testing.T) { testIDs(t, service.NewRequestID) }

func testIDs(t *testing.T, newID func() string) {
	t.Helper()
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := make(map[string]bool)
	for range 10_000 {
		id := newID()
		if !form.MatchString(id) {
			t.Fatalf("%q is not a UUID of version 4", id)
		}
		if seen[id] {
			t.Fatalf("%q was returned twice", id)
		}
		seen[id] = true
	}
}
