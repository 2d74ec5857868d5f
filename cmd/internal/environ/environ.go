// Package environ reads environments in the form of [os.Environ].
package environ

import (
	"slices"
	"strings"
)

// Get returns the value of a variable, or "". The last one wins.
func Get(environ []string, name string) string {
	value := ""
	for _, pair := range environ {
		if v, ok := strings.CutPrefix(pair, name+"="); ok {
			value = v
		}
	}
	return value
}

// ForOthers returns the environment for other programs: without the variables of this
// program, which may be secrets.
func ForOthers(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(pair string) bool { return strings.HasPrefix(pair, "GUIDON_") })
}
