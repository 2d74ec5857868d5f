package config

import (
	"fmt"
	"maps"
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

// warnFlipt adds a warning if variables of Flipt would mean something, but their
// counterparts are not set. A server that ignored them silently could be open to
// everybody.
func warnFlipt(env environment, found *warnings) {
	ignored := ignoredVariables(env)
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

// ignoredVariables returns the variables of Flipt that would mean something, but whose
// counterpart is not in env. Those of what does not exist here count as well.
func ignoredVariables(env environment) []string {
	var ignored []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		rest, ok := strings.CutPrefix(name, flipt.Prefix)
		if !ok {
			continue
		}
		k, _, ok := flipt.FindVariable(rest)
		if !ok || k.Fate == flipt.Needless {
			continue
		}
		ours := variablePrefix + rest
		if k.To != "" {
			ours = variableOf(k.To)
		}
		if env[ours] == "" && env[ours+fileSuffix] == "" {
			ignored = append(ignored, name)
		}
	}
	return ignored
}
