package lists_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon/internal/lists"
)

func TestClosest(t *testing.T) {
	names := []string{"variants", "rules", "rollouts", "key", "percentage", "namespaceKey", "namespaceKeys"}
	for text, want := range map[string]string{
		"varaints": "variants", "rule": "rules", "Rules": "rules", "kye": "key", "rolloutss": "rollouts", "description": "", "": "",
		"percent": "percentage", "namespaces": "namespaceKeys", "name": "namespaceKey", "per": "key", "num": "", "variation": "",
		strings.Repeat("variants", 100_000): "",
	} {
		if got := lists.Closest(text, names); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
