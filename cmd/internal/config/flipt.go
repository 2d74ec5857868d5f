package config

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/cmd/internal/config/flipt"
)

// replacedKey returns a hint for an unknown key of Flipt, or "".
func replacedKey(key string) string {
	k, ok := flipt.Find(key)
	if !ok || k.Hint() == "" {
		return ""
	}
	return "; " + k.Hint()
}

// replacedVariable returns a hint for an unknown variable of such a key, or "".
func replacedVariable(variable string) string {
	name := strings.TrimPrefix(variable, variablePrefix)
	k, _, ok := flipt.FindVariable(name)
	if !ok {
		k, _, ok = flipt.FindVariable(strings.TrimSuffix(name, fileSuffix))
	}
	if !ok || k.Hint() == "" {
		return ""
	}
	return "; " + k.Hint()
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
		rest, ok := strings.CutPrefix(name, flipt.Prefix)
		if !ok || serviceLink(name, env[name]) {
			continue
		}
		k, middle, ok := flipt.FindVariable(rest)
		if !ok || k.Status == flipt.Needless {
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
	if strings.HasPrefix(f.key, "db.") && slices.Contains([]string{"url", "protocol", "host", "port", "name", "user", "password"}, f.name()) {
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
