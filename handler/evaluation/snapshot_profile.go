package evaluation

import (
	"strings"

	"github.com/guidonhq/guidon"
)

// profile is how much of a snapshot a client understands (contract 9.2).
type profile uint8

const (
	beforeEntities profile = iota // no type for constraints on the entity's id
	beforeDefaults                // no default variants
	complete                      // everything
	profiles       = iota
)

// The versions that introduced entity constraints and default variants.
var (
	withEntities, _ = guidon.ParseVersion("1.38.0")
	withDefaults, _ = guidon.ParseVersion("1.47.0")
)

// profileOf returns the profile of the version in the header. A version that is missing
// or malformed counts as 1.37.1.
func profileOf(header string) profile {
	v, err := guidon.ParseVersion(strings.TrimSpace(header))
	switch {
	case err != nil || v.Compare(withEntities) < 0:
		return beforeEntities
	case v.Compare(withDefaults) < 0:
		return beforeDefaults
	}
	return complete
}
