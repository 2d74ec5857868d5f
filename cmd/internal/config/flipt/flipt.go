// Package flipt maps the configuration keys of Flipt v1 to those of Guidon (operations 2.3).
// The hints about unknown keys, the warning about variables of Flipt and "guidon config
// import" all use its one table.
package flipt

import (
	"slices"
	"strings"
)

// Prefix is the prefix of the environment variables of Flipt.
const Prefix = "FLIPT_"

// Status says how Guidon supports a key of Flipt.
type Status uint8

const (
	// Kept is a key that exists here, too. Its note describes the differences.
	Kept Status = iota
	// Moved is a key that has another name here.
	Moved
	// Combined is a key whose value becomes part of the value of another one.
	Combined
	// Needless is a key that had no effect, or that nothing here needs.
	Needless
	// Dropped is a key of something that does not exist here.
	Dropped
)

// Key is a key of Flipt, or a group of keys with the same status.
type Key struct {
	Key    string // a star stands for a name that the operator chose
	Status Status
	To     string // the key here, of those that are moved or combined
	Note   string // the differences, or why the key no longer exists and its replacement
}

// Find returns the entry for the key, which may be a group, or else that of the closest
// group that contains it. Names may be actual ones or stars.
func Find(key string) (Key, bool) {
	path := strings.Split(key, ".")
	best, found := Key{}, false
	for _, k := range keys {
		if matches(path, strings.Split(k.Key, ".")) && len(k.Key) > len(best.Key) {
			best, found = k, true
		}
	}
	return best, found
}

// matches reports whether the path is the pattern or below it.
func matches(path, pattern []string) bool {
	if len(path) < len(pattern) {
		return false
	}
	for i, name := range pattern {
		if name != "*" && name != path[i] {
			return false
		}
	}
	return true
}

// FindVariable returns the entry for the variable, given without its prefix, and the rest
// of the key: the name for which a star stands, or the part after the variable of a group.
func FindVariable(variable string) (k Key, rest string, found bool) {
	for _, candidate := range keys {
		r, ok := candidate.matchVariable(variable)
		if ok && len(candidate.Key) > len(k.Key) {
			k, rest, found = candidate, r, true
		}
	}
	return k, rest, found
}

// matchVariable returns the rest of the key of a variable for the entry.
func (k Key) matchVariable(variable string) (rest string, ok bool) {
	before, after, named := strings.Cut(Variable(k.Key), "*")
	rest, ok = strings.CutPrefix(variable, before)
	switch {
	case !ok:
		return "", false
	case named:
		name, ok := strings.CutSuffix(rest, after)
		return strings.ToLower(name), ok && name != ""
	case rest == "":
		return "", true
	}
	rest, ok = strings.CutPrefix(rest, "_")
	return strings.ToLower(rest), ok && rest != "" && k.isGroup()
}

// isGroup reports whether there are keys below that of the entry.
func (k Key) isGroup() bool {
	return k.Status != Kept || HasMembers(k.Key)
}

// HasMembers reports whether the operator chose the names of the members of the key.
func HasMembers(key string) bool {
	return key == Metadata || key == Teams || key == traceHeaders || key == metricHeaders
}

// IsWhole reports whether the entry for the key applies to all keys below it.
func IsWhole(key string) bool {
	return !slices.ContainsFunc(keys, func(k Key) bool { return strings.HasPrefix(k.Key, key+".") })
}

// Keys whose members have names that the operator chose.
const (
	Metadata = "authentication.methods.token.bootstrap.metadata"
	Teams    = "authentication.methods.github.allowed_teams"

	traceHeaders  = "tracing.otlp.headers"
	metricHeaders = "metrics.otlp.headers"
	ourTeams      = "authentication.methods.codehost.allowed_teams"
)

// Variable returns the environment variable of a key, without its prefix.
func Variable(key string) string { return strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

// Hint returns the hint for a key that does not exist here, or "" if it exists.
func (k Key) Hint() string {
	switch {
	case k.Status == Kept:
		return ""
	case k.Status == Needless:
		return "remove it, " + k.Note
	case k.Note != "":
		return k.Note
	}
	return "use " + k.To
}
