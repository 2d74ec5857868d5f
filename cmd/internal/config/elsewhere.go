package config

import (
	"strings"
	"sync"
)

// Check returns the problems of the content of a file that is for a server on another
// machine: it does not check that files exist, and accepts variables that are not set here.
// The error is an *[Error].
func Check(name string, content []byte) error {
	found := problems{elsewhere: true}
	c := defaults()
	env := environment{"HOME": "/"}
	loadText(c, name, content, env, &found)
	for _, f := range fields(c) {
		if f.namesFile() && f.value.String() != "" {
			found.without(f.key)
		}
	}
	c.DB.combine(env.databaseURL(), &found)
	c.check(&found)
	return found.err()
}

// namesFile reports whether the value is the path of a file that must exist.
func (f field) namesFile() bool {
	name := f.name()
	return name == "cert_key" || strings.HasSuffix(name, "_file") || strings.HasSuffix(name, "_path") && name != "base_path"
}

// assume sets a value that is not known here to one that is valid.
func (f field) assume() error {
	switch {
	case f.kind() != "string":
		return nil // the default
	case f.key == "db.url":
		return f.set("postgres://server.example/guidon")
	case f.key == "cache.redis.url":
		return f.set("redis://server.example")
	case strings.HasSuffix(f.key, "_url"), strings.HasSuffix(f.key, "_address"):
		return f.set("https://server.example")
	case f.key == "ui.topbar.color":
		return f.set("#000")
	}
	return f.set("server.example")
}

// The kinds of keys that KindOf returns besides those of the documentation.
const (
	KindGroup    = "group"
	KindList     = "list"
	KindDuration = "duration"
)

var kinds = sync.OnceValue(func() map[string]string {
	c := new(Config)
	for _, g := range allNamedGroups(c) {
		g.add(exampleName)
	}
	all := make(map[string]string)
	walk(c, func(s section) { all[s.key] = KindGroup }, func(f field) { all[f.key] = f.kind() })
	return all
})

// KindOf returns the kind of the values of a key, or "" if there is no such key. A star
// stands for a name that the operator chooses.
func KindOf(key string) string {
	return kinds()[strings.ReplaceAll(key, "*", exampleName)]
}
