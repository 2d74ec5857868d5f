package machine

import (
	"slices"
	"strings"
)

// Variable returns the value of a variable, or "". The last one wins.
func Variable(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// EnvironForOthers returns the environment for other programs: without the variables of this
// program, which may be secrets.
func EnvironForOthers(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool { return strings.HasPrefix(pair, "GUIDON_") })
}
