package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// namedGroups is a group of groups that all have the same keys, and names that the
// operator chooses, such as the OpenID providers. Its value is a map of pointers to
// structs.
type namedGroups struct {
	key   string
	value reflect.Value
}

func isNamedGroups(v reflect.Value) bool {
	return v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Pointer
}

// allNamedGroups returns those of c.
func allNamedGroups(c *Config) []namedGroups {
	var all []namedGroups
	walker{names: func(g namedGroups) { all = append(all, g) }}.walk(reflect.ValueOf(c).Elem(), "", -1)
	return all
}

// list returns the names in order.
func (g namedGroups) list() []string {
	names := lists.Map(g.value.MapKeys(), reflect.Value.String)
	slices.Sort(names)
	return names
}

// add adds a group with the defaults, unless there is one of the name already.
func (g namedGroups) add(name string) {
	key := reflect.ValueOf(name)
	if g.value.IsNil() {
		g.value.Set(reflect.MakeMap(g.value.Type()))
	}
	if g.value.MapIndex(key).IsValid() {
		return
	}
	group := reflect.New(g.value.Type().Elem().Elem())
	walker{visit: func(f field) { f.setDefault() }}.walk(group.Elem(), "", -1)
	g.value.SetMapIndex(key, group)
}

// members returns the keys of each group, relative to it.
func (g namedGroups) members() []field {
	var all []field
	walker{visit: func(f field) { all = append(all, f) }}.walk(reflect.New(g.value.Type().Elem().Elem()).Elem(), "", -1)
	return all
}

// checkName returns an error if a group must not have the name. Names with the key of a
// map would make the variables of its members ambiguous.
func (g namedGroups) checkName(name string) error {
	if !service.IsProviderName(name) {
		return fmt.Errorf("the name %q must be 1 to 32 lower-case letters, digits, _ and -, beginning with a letter or digit", name)
	}
	for _, f := range g.members() {
		if f.isMap() && strings.Contains("_"+name+"_", "_"+f.key+"_") {
			return fmt.Errorf("the name %q must not contain %s", name, f.key)
		}
	}
	return nil
}

// variablePrefix returns the common prefix of the variables of all groups.
func (g namedGroups) variablePrefix() string { return variableOf(g.key) + "_" }

// split returns the name of the group whose variable ends in rest, and whether there is
// such a variable. The name is the part before the longest key at the end, or before the
// first key of a map, in lower case.
func (g namedGroups) split(rest string) (string, bool) {
	end := len(rest)
	for _, f := range g.members() {
		if i := f.nameEnd(rest); i > 0 {
			end = min(end, i)
		}
	}
	name := rest[:end]
	return strings.ToLower(name), end < len(rest) && name == strings.ToUpper(name)
}

// nameEnd returns where the name ends in the end of a variable for the member, or 0 if it
// is for another one.
func (f field) nameEnd(rest string) int {
	if f.isMap() {
		name, key, _ := strings.Cut(rest, "_"+variableName(f.key)+"_")
		if key == "" {
			return 0
		}
		return len(name)
	}
	for _, suffix := range f.suffixes() {
		if name, ok := strings.CutSuffix(rest, suffix); ok {
			return len(name)
		}
	}
	return 0
}

// suffixes returns the suffixes of the variables of a member.
func (f field) suffixes() []string {
	suffix := "_" + variableName(f.key)
	if f.isScalar() {
		return []string{suffix, suffix + fileSuffix}
	}
	return []string{suffix}
}

// addNames adds the groups that the variables name.
func (g namedGroups) addNames(env environment, known map[string]bool, found *problems) {
	prefix := g.variablePrefix()
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		rest, ok := strings.CutPrefix(variable, prefix)
		if !ok {
			continue
		}
		name, ok := g.split(rest)
		if !ok {
			continue // reported as unknown
		}
		if err := g.checkName(name); err != nil {
			known[variable] = true
			found.add("environment: %s: %v", variable, err)
			continue
		}
		g.add(name)
	}
}

// suggest returns a hint for an unknown variable of a group: the variable with a known key
// instead of its suffix.
func (g namedGroups) suggest(variable string) string {
	rest, ok := strings.CutPrefix(variable, g.variablePrefix())
	if !ok {
		return ""
	}
	var candidates []string
	for i := range rest {
		if rest[i] != '_' || i == 0 {
			continue
		}
		for _, f := range g.members() {
			candidates = append(candidates, variable[:len(variable)-len(rest)+i]+f.suffixes()[0])
		}
	}
	return lists.DidYouMean(variable, candidates)
}
