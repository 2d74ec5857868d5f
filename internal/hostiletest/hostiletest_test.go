package hostiletest_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/internal/hostiletest"
)

// TestAll: there are a few hundred different strings, and batches have all of them.
func TestAll(t *testing.T) {
	all := hostiletest.All()
	if len(all) < 400 {
		t.Errorf("%d strings, want at least 400", len(all))
	}
	seen := make(map[string]bool)
	for _, text := range all {
		if seen[text] || strings.Contains(text, "%!") {
			t.Errorf("%q is there twice, or has no script", text)
		}
		seen[text] = true
	}
	batches := hostiletest.Batches(all, 3000)
	if got := strings.Join(batches, "\n"); got != strings.Join(all, "\n") || len(batches) > 30 {
		t.Errorf("%d batches do not have all strings", len(batches))
	}
	for _, b := range batches {
		if len(b) > 3000 && strings.Contains(b, "\n") && !strings.Contains(b, "<b><b>") {
			t.Errorf("a batch has %d bytes", len(b))
		}
	}
}
