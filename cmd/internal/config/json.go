package config

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/guidonhq/guidon/store/redact"
)

// JSON returns the configuration as served by /meta/config (contract 11): members in
// camel case, durations in nanoseconds, without secrets. Features of Flipt that do not
// exist here are shown as disabled.
func (c *Config) JSON() json.RawMessage {
	root := map[string]any{
		"audit":        map[string]any{"enabled": c.Audit.Enabled()},
		"cache":        map[string]any{"enabled": true},
		"experimental": map[string]any{},
		"meta":         map[string]any{"checkForUpdates": false, "telemetryEnabled": false},
		"storage":      map[string]any{"type": "database"},
	}
	for _, f := range fields(c) {
		if !f.secret() {
			put(root, f.jsonPath(), f.jsonValue())
		}
	}
	// As in Flipt, these are the effective values.
	put(root, []string{"authorization", "required"}, c.RolesEnforced())
	put(root, []string{"authentication", "session", "secure"}, c.SecureCookies())
	text, err := json.Marshal(root)
	if err != nil {
		panic(fmt.Sprintf("configuration as JSON: %v", err)) // impossible: only strings, numbers and booleans
	}
	return text
}

// put sets the member at the path.
func put(object map[string]any, path []string, value any) {
	last := len(path) - 1
	for _, name := range path[:last] {
		inner, ok := object[name].(map[string]any)
		if !ok {
			inner = make(map[string]any)
			object[name] = inner
		}
		object = inner
	}
	object[path[last]] = value
}

// jsonPath returns the names of the members that lead to the key. A name that the operator
// chose stays as it is.
func (f field) jsonPath() []string {
	path := strings.Split(f.key, ".")
	for i, name := range path {
		if i != f.named {
			path[i] = camelCase(name)
		}
	}
	return path
}

func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

func (f field) jsonValue() any {
	switch v := f.value.Interface().(type) {
	case time.Duration:
		return v.Nanoseconds()
	case map[string]string:
		if v == nil {
			return map[string]string{}
		}
	case []string:
		if v == nil {
			return []string{}
		}
	case string:
		if f.url() {
			return redact.URL(v)
		}
	}
	return f.value.Interface()
}
