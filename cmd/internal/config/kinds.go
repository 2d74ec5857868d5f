package config

import (
	"strings"
	"sync"
)

// The kinds of keys that KindOf returns besides those of the documentation.
const (
	KindList     = "list"
	KindDuration = "duration"
)

var kinds = sync.OnceValue(func() map[string]string {
	c := new(Config)
	for _, g := range allNamedGroups(c) {
		g.add(exampleName)
	}
	all := make(map[string]string)
	for _, f := range fields(c) {
		all[f.key] = f.kind()
	}
	return all
})

// KindOf returns the kind of the values of a key, or "" if there is no such key. A star
// stands for a name that the operator chooses.
func KindOf(key string) string {
	return kinds()[strings.ReplaceAll(key, "*", exampleName)]
}
