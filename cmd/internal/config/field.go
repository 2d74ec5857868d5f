package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/internal/lists"
)

// variablePrefix is the prefix of all environment variables of the configuration.
const variablePrefix = "GUIDON_"

// field is one key of the configuration, with its value in a Config.
type field struct {
	key   string // "server.http_port"
	named int    // which part of the key the operator chose, from 0, or -1
	tag   reflect.StructTag
	value reflect.Value
}

// section is a group of keys.
type section struct {
	key   string // such as "server"
	part  int    // which part of the key the operator chose, from 0, or -1
	named bool   // the operator chose its name
	names bool   // the operator chooses the names of its groups
}

// walker calls visit for every key, in declaration order, and enter for every group
// before its keys. Either may be nil.
type walker struct {
	enter func(section)
	names func(namedGroups) // called for groups whose names the operator chooses
	visit func(field)
}

// walk visits the keys of c.
func walk(c *Config, enter func(section), visit func(field)) {
	walker{enter: enter, visit: visit}.walk(reflect.ValueOf(c).Elem(), "", -1)
}

// walk visits the keys of the struct, which is the group with the key, or all if that is
// empty. named is the part of the key that the operator chose, from 0, or -1.
func (w walker) walk(v reflect.Value, group string, named int) {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name := tag.Get("key")
		if name == "" {
			continue // no key
		}
		key := below(group, name)
		switch value := v.Field(i); {
		case value.Kind() == reflect.Struct:
			w.group(section{key: key, part: named}, value)
		case isNamedGroups(value):
			w.namedGroups(namedGroups{key: key, value: value})
		case w.visit != nil:
			w.visit(field{key: key, named: named, tag: tag, value: value})
		}
	}
}

func (w walker) group(s section, v reflect.Value) {
	if w.enter != nil {
		w.enter(s)
	}
	w.walk(v, s.key, s.part)
}

// namedGroups visits the groups in the order of their names.
func (w walker) namedGroups(g namedGroups) {
	if w.enter != nil {
		w.enter(section{key: g.key, part: -1, names: true})
	}
	if w.names != nil {
		w.names(g)
	}
	for _, name := range g.list() {
		s := section{key: below(g.key, name), part: 1 + strings.Count(g.key, "."), named: true}
		w.group(s, g.value.MapIndex(reflect.ValueOf(name)).Elem())
	}
}

// below returns the key of the name in the group, whose key is empty if it has all groups.
func below(group, name string) string {
	if group == "" {
		return name
	}
	return group + "." + name
}

// fields returns every key, with its value in c.
func fields(c *Config) []field {
	var all []field
	walk(c, nil, func(f field) { all = append(all, f) })
	return all
}

// variable returns the environment variable of the key.
func (f field) variable() string { return variableOf(f.key) }

func variableOf(key string) string { return variablePrefix + variableName(key) }

// variableName returns the environment variable of a key, without its prefix.
func variableName(key string) string { return strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

func (f field) name() string { return lastName(f.key) }

func (f field) secret() bool { return f.tag.Get("secret") == "true" }
func (f field) url() bool    { return f.tag.Get("url") == "true" }

// referable reports whether the value may be a reference to a secret.
func (f field) referable() bool {
	return (f.secret() || f.url()) && f.value.Kind() == reflect.String
}

// keepsCase reports whether the keys of a map in the file stay as they are written.
func (f field) keepsCase() bool { return f.tag.Get("keepCase") == "true" }

func (f field) isMap() bool  { return f.value.Kind() == reflect.Map }
func (f field) isList() bool { return f.value.Kind() == reflect.Slice }

func (f field) isScalar() bool { return !f.isMap() && !f.isList() }

func (f field) options() []string { return strings.Fields(f.tag.Get("options")) }

// kind returns the type of the value, for documentation and errors.
func (f field) kind() string {
	switch f.value.Interface().(type) {
	case time.Duration:
		return "duration"
	case int:
		return "integer"
	case float64:
		return "number"
	case bool:
		return "true or false"
	case []string:
		return "list"
	case map[string]string:
		return "map"
	}
	if options := f.options(); len(options) > 0 {
		return strings.Join(options, ", ")
	}
	return "string"
}

// set parses the value as written in the environment or the file. The error does not
// contain the key, nor any secret.
func (f field) set(text string) error {
	switch f.value.Interface().(type) {
	case time.Duration:
		return f.setDuration(text)
	case int:
		return f.setInt(text)
	case float64:
		return f.setFloat(text)
	case bool:
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("must be true or false, not %q", text)
		}
		f.value.SetBool(on)
	case []string:
		f.value.Set(reflect.ValueOf(strings.Fields(text)))
	case string:
		return f.setString(text)
	default:
		return fmt.Errorf("cannot be set from a single string")
	}
	return nil
}

func (f field) setString(text string) error {
	options := f.options()
	if f.tag.Get("fold") == "true" {
		text = strings.ToLower(text)
	}
	if len(options) > 0 && !slices.Contains(options, text) {
		return fmt.Errorf("must be one of %s, not %q%s", strings.Join(options, ", "), text, lists.DidYouMean(text, options))
	}
	f.value.SetString(text)
	return nil
}

func (f field) setInt(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil {
		return fmt.Errorf("must be an integer, not %q", text)
	}
	low, lowErr := strconv.Atoi(f.tag.Get("min"))
	high, highErr := strconv.Atoi(f.tag.Get("max"))
	if lowErr == nil && n < low || highErr == nil && n > high {
		return fmt.Errorf("must be from %d to %d, not %d", low, high, n)
	}
	f.value.SetInt(int64(n))
	return nil
}

func (f field) setFloat(text string) error {
	low, _ := strconv.ParseFloat(f.tag.Get("min"), 64)
	high, _ := strconv.ParseFloat(f.tag.Get("max"), 64)
	n, err := strconv.ParseFloat(text, 64)
	if inside := n >= low && n <= high; err != nil || !inside {
		return fmt.Errorf("must be a number from %s to %s, not %q", f.tag.Get("min"), f.tag.Get("max"), text)
	}
	f.value.SetFloat(n)
	return nil
}

// setDuration rejects a number without a unit. Flipt reads it as nanoseconds, which is
// hardly ever intended (operations 2.1).
func (f field) setDuration(text string) error {
	if _, err := strconv.ParseFloat(text, 64); err == nil && text != "0" {
		return fmt.Errorf("must have a unit: %ss, %sms, %sm or %sh", text, text, text, text)
	}
	d, err := clock.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("must be a duration such as 500ms, 30s, 5m, 1h30m or 90d, not %q", text)
	}
	if high, err := time.ParseDuration(f.tag.Get("max")); err == nil {
		if low, err := time.ParseDuration(f.tag.Get("min")); err != nil || d < low || d > high {
			return fmt.Errorf("must be from %s to %s, not %q", f.tag.Get("min"), f.tag.Get("max"), text)
		}
	} else if low, err := time.ParseDuration(f.tag.Get("min")); err == nil && d < low {
		if low > 0 {
			return fmt.Errorf("must be longer than 0s, not %q", text)
		}
		return fmt.Errorf("must not be negative, not %q", text)
	}
	f.value.SetInt(int64(d))
	return nil
}

// setDefault sets the value that the tags define, if any.
func (f field) setDefault() {
	text, ok := f.tag.Lookup("default")
	if !ok {
		return
	}
	if err := f.set(text); err != nil {
		panic(fmt.Sprintf("default of %s: %v", f.key, err)) // a mistake in the tags, found by any test
	}
}
