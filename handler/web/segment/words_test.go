package segment

import (
	"slices"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// TestMenu: the menu of each type offers all of its operators, except lists of dates.
func TestMenu(t *testing.T) {
	for _, o := range guidon.Operators() {
		for _, kind := range o.Types {
			offered := slices.Contains(operators[flipt.ComparisonType(kind)], o.Name)
			if never := kind == guidon.DateTimeComparison && o.Takes == guidon.ListOfItems; offered == never {
				t.Errorf("operator %s of %s: offered is %t; see menu in words.go", o.Name, kind, offered)
			}
		}
	}
}
