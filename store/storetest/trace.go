package storetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store"
)

// testTrace checks what a store says about its statements: their texts without values, and errors.
func testTrace(t *testing.T, database string) {
	var texts []string
	var failed int
	recorded := true
	systems := map[string]bool{}
	s := open(t, database, store.Options{Trace: func(_ context.Context, system string) func(string, error) {
		systems[system] = true
		if !recorded {
			return nil
		}
		return func(text string, err error) {
			texts = append(texts, text)
			if err != nil {
				failed++
			}
		}
	}})
	update(t, s, "default", putObjects(&guidon.Flag{Key: "secret-flag", Name: "secret-name"}))
	snapshot(t, s, "default")
	if len(systems) != 1 || failed > 0 {
		t.Errorf("got %d failures, systems %v", failed, systems)
	}
	for _, text := range texts {
		if strings.Contains(text, "secret") {
			t.Errorf("a value is in %q", text)
		}
	}
	for _, want := range []string{"UPDATE namespaces SET revision", "INSERT INTO changes", "COMMIT", "SELECT"} {
		if !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("no text has %s: %q", want, texts)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 {
		if s.Ping(ended) == nil {
			t.Error("got no error from a query whose context has ended")
		}
		recorded = false
	}
	if failed != 1 {
		t.Errorf("%d errors are reported, want 1", failed)
	}
}
