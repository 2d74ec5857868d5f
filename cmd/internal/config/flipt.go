package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// FliptPrefix is the prefix of the environment variables of Flipt.
const FliptPrefix = "FLIPT_"

// FliptStatus says how Guidon supports a key of Flipt.
type FliptStatus uint8

const (
	// FliptKept is a key that exists here, too. Its note describes the differences.
	FliptKept FliptStatus = iota
	// FliptMoved is a key that has another name here.
	FliptMoved
	// FliptCombined is a key whose value becomes part of the value of another one.
	FliptCombined
	// FliptNeedless is a key that had no effect, or that nothing here needs.
	FliptNeedless
	// FliptDropped is a key of something that does not exist here.
	FliptDropped
)

// FliptKey is a key of Flipt, or a group of keys with the same status.
type FliptKey struct {
	Key    string // a star stands for a name that the operator chose
	Status FliptStatus
	To     string // the key here, of those that are moved or combined
	Note   string // the differences, or why the key no longer exists and its replacement
}

// FindFlipt returns the entry for the key, which may be a group, or else that of the closest
// group that contains it. Names may be actual ones or stars.
func FindFlipt(key string) (FliptKey, bool) {
	path := strings.Split(key, ".")
	best, found := FliptKey{}, false
	for _, k := range fliptKeys() {
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

// FindFliptVariable returns the entry for the variable, given without its prefix, and the rest
// of the key: the name for which a star stands, or the part after the variable of a group.
func FindFliptVariable(variable string) (k FliptKey, rest string, found bool) {
	for _, candidate := range fliptKeys() {
		r, ok := candidate.matchVariable(variable)
		if ok && len(candidate.Key) > len(k.Key) {
			k, rest, found = candidate, r, true
		}
	}
	return k, rest, found
}

// matchVariable returns the rest of the key of a variable for the entry.
func (k FliptKey) matchVariable(variable string) (rest string, ok bool) {
	before, after, named := strings.Cut(variableName(k.Key), "*")
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
func (k FliptKey) isGroup() bool {
	return k.Status != FliptKept || FliptHasMembers(k.Key)
}

// FliptHasMembers reports whether the operator chose the names of the members of the key.
func FliptHasMembers(key string) bool {
	return key == fliptMetadata || key == FliptTeams || key == traceHeaders || key == metricHeaders
}

// FliptIsWhole reports whether the entry for the key applies to all keys below it.
func FliptIsWhole(key string) bool {
	return !slices.ContainsFunc(fliptKeys(), func(k FliptKey) bool { return strings.HasPrefix(k.Key, key+".") })
}

// Keys whose members have names that the operator chose.
const (
	fliptMetadata = "authentication.methods.token.bootstrap.metadata"
	FliptTeams    = "authentication.methods.github.allowed_teams"

	traceHeaders  = "tracing.otlp.headers"
	metricHeaders = "metrics.otlp.headers"
	ourTeams      = "authentication.methods.codehost.allowed_teams"
)

// hint returns the hint for a key that does not exist here, or "" if it exists.
func (k FliptKey) hint() string {
	switch {
	case k.Status == FliptKept:
		return ""
	case k.Status == FliptNeedless:
		return "; remove it, " + k.Note
	case k.Note != "":
		return "; " + k.Note
	}
	return "; use " + k.To
}

// replacedVariable returns a hint for an unknown variable of a key of Flipt, or "".
func replacedVariable(variable string) string {
	name := strings.TrimPrefix(variable, variablePrefix)
	k, _, ok := FindFliptVariable(name)
	if !ok {
		k, _, _ = FindFliptVariable(strings.TrimSuffix(name, fileSuffix))
	}
	return k.hint()
}

// maxIgnored is how many ignored variables of Flipt the warning names.
const maxIgnored = 10

// warnFlipt adds a warning if variables of Flipt would mean something, but nothing here is
// configured instead. A server that ignored them silently could be open to everyone.
func (c *Config) warnFlipt(env environment, found *warnings) {
	ignored := c.ignoredVariables(env)
	if len(ignored) == 0 {
		return
	}
	more := ""
	if n := len(ignored) - maxIgnored; n > 0 {
		ignored, more = ignored[:maxIgnored], fmt.Sprintf(" and %d more", n)
	}
	*found = append(*found, "variables of Flipt are ignored, here they begin with "+variablePrefix+": "+strings.Join(ignored, ", ")+more+
		`; "guidon config import --from-flipt-environment" translates them`)
}

// ignoredVariables returns the variables of Flipt that would mean something, but whose key
// is not configured here. Variables of features that Guidon does not have are included.
func (c *Config) ignoredVariables(env environment) []string {
	var ignored []string
	var now map[string]field
	for _, name := range slices.Sorted(maps.Keys(env)) {
		rest, ok := strings.CutPrefix(name, FliptPrefix)
		if !ok || ServiceLink(name, env[name]) {
			continue
		}
		k, middle, ok := FindFliptVariable(rest)
		if !ok || k.Status == FliptNeedless {
			continue
		}
		if now == nil {
			now = c.byKey()
		}
		key := cmp.Or(k.To, strings.ReplaceAll(k.Key, "*", middle))
		if f, ok := now[key]; !ok || !f.configured(c, env, env[name]) {
			ignored = append(ignored, name)
		}
	}
	return ignored
}

// byKey returns the keys with their values.
func (c *Config) byKey() map[string]field {
	all := make(map[string]field)
	for _, f := range fields(c) {
		all[f.key] = f
	}
	return all
}

// configured reports whether the key has another value than the default, or the same one
// as in Flipt.
func (f field) configured(c *Config, env environment, text string) bool {
	if env[f.variable()] != "" || env[f.variable()+fileSuffix] != "" {
		return true
	}
	if f.key == "db.url" || slices.Contains(DatabaseParts, f.key) {
		return c.DB.URL != env.databaseURL() // which the parts make up, too
	}
	other := f
	other.value = reflect.New(f.value.Type()).Elem()
	other.setDefault()
	if !reflect.DeepEqual(other.value.Interface(), f.value.Interface()) {
		return true
	}
	return other.set(text) == nil && reflect.DeepEqual(other.value.Interface(), f.value.Interface())
}
