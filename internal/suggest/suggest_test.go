package suggest_test

import (
	"testing"

	"github.com/guidonhq/guidon/internal/suggest"
)

func TestClosest(t *testing.T) {
	names := []string{"variants", "rules", "rollouts", "key"}
	for text, want := range map[string]string{
		"varaints": "variants", "rule": "rules", "Rules": "rules", "kye": "key", "rolloutss": "rollouts", "description": "", "": "",
	} {
		if got := suggest.Closest(text, names); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
