package config

import (
	"maps"
	"slices"
	"strings"
)

// replaced are keys of Flipt v1 that do not exist here, or groups of them, and what to do
// instead (operations 2.3). The star stands for a name that the operator chose.
var replaced = []struct{ key, instead string }{
	{"authentication.exclude.metadata", "remove it, it had no effect in Flipt either"},
	{"authentication.session.csrf.key", "remove it, writes from pages of other origins are always checked; authentication.session.csrf.trusted_origins names exceptions"},
	{"authentication.session.csrf.secure", "remove it, it had no effect in Flipt either; authentication.session.secure is for all cookies"},
	{"authentication.methods.github", "use authentication.methods.codehost, whose type is github by default, and write allowed_teams as a list such as acme/backend"},
	{"authentication.methods.codehost.allowed_teams", "write each team with its organization, such as acme/backend, in the list authentication.methods.codehost.allowed_teams"},
	{"authentication.methods.oidc.providers.*.nonce", "remove it, each sign-in has a random nonce"},
	{"storage", "flags are in the database of db.url; server.read_only replaces storage.read_only"},
	{"authorization.backend", policies}, {"authorization.local", policies}, {"authorization.object", policies}, {"authorization.bundle", policies},
}

const policies = "there are no policies; give roles with authorization.bindings and authorization.default_roles"

// replacedKey returns a hint for an unknown key of Flipt, or "".
func replacedKey(key string) string {
	for _, r := range replaced {
		if matches(strings.Split(key, "."), strings.Split(r.key, ".")) {
			return "; " + r.instead
		}
	}
	return ""
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

// replacedVariable returns a hint for an unknown variable of such a key, or "".
func replacedVariable(variable string) string {
	for _, r := range replaced {
		prefix, rest, named := strings.Cut(variableOf(r.key), "*")
		after, ok := strings.CutPrefix(variable, prefix)
		switch {
		case !ok:
		case named && (strings.HasSuffix(after, rest) || strings.HasSuffix(after, rest+fileSuffix)),
			!named && (after == "" || strings.HasPrefix(after, "_")):
			return "; " + r.instead
		}
	}
	return ""
}

// The variables of Flipt that decide who may do what. A server that ignored them silently
// could be open to everybody.
var fliptPrefixes = []string{"FLIPT_AUTHENTICATION_", "FLIPT_AUTHORIZATION_", "FLIPT_STORAGE_READ_ONLY"}

// ignoredVariables returns the variables of Flipt that have no counterpart in env.
func ignoredVariables(env environment) []string {
	var ignored []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if !slices.ContainsFunc(fliptPrefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		ours := variablePrefix + strings.TrimPrefix(name, "FLIPT_")
		ours = strings.Replace(ours, "_METHODS_GITHUB_", "_METHODS_CODEHOST_", 1)
		ours = strings.Replace(ours, "_STORAGE_READ_ONLY", "_SERVER_READ_ONLY", 1)
		if env[ours] == "" && env[ours+fileSuffix] == "" {
			ignored = append(ignored, name)
		}
	}
	return ignored
}
