package playground

import (
	"testing"

	"github.com/guidonhq/guidon"
)

// TestDemandWords: all operators have words for what would have to hold.
func TestDemandWords(t *testing.T) {
	for _, o := range guidon.Operators() {
		if words := demandWords[o.Name]; words[0] == "" || words[1] == "" {
			t.Errorf("operator %s has no words in demandWords", o.Name)
		}
	}
}
