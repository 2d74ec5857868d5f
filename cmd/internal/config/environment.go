package config

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/internal/lists"
)

// fileSuffix is the suffix of variables that name a file with the value.
const fileSuffix = "_FILE"

// Extra is a variable with the prefix GUIDON_ that is not a configuration key.
type Extra struct{ Variable, Doc string }

// Extras returns the variables that the command line reads.
func Extras() []Extra {
	return []Extra{
		{"GUIDON_ADDRESS", "Server that the commands connect to: a URL, or the name of a context. `--address` overrides it."},
		{"GUIDON_NAMESPACE", "Namespace that the commands work on. `--namespace` overrides it."},
		{"GUIDON_CA_FILE",
			"File with certificates of the authorities that the certificate of the server may be from, in PEM. `--ca-file` overrides it."},
		{"GUIDON_TOKEN", "Token that the commands send to the server of --address, instead of that of \"guidon login\"."},
		{"GUIDON_TOKEN_FILE", "File that contains this token."},
		{"GUIDON_REPLAY_FROM_TOKEN", "Token that \"guidon replay\" sends to its first server."},
		{"GUIDON_REPLAY_TO_TOKEN", "Token that it sends to its second server, instead of GUIDON_TOKEN."},
	}
}

// loadEnvironment overrides c with the GUIDON_ variables.
func loadEnvironment(c *Config, env environment, found *problems) {
	known := make(map[string]bool)
	named := allNamedGroups(c)
	for _, g := range named {
		g.addNames(env, known, found)
	}
	all := fields(c)
	for _, extra := range Extras() {
		known[extra.Variable] = true
	}
	for _, f := range all {
		switch {
		case f.isMap():
			f.setFromPrefix(env, known)
		case f.isList():
			f.setFromVariable(env, known, found)
		default:
			f.setFromVariable(env, known, found)
			f.setFromFile(env, known, found)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if strings.HasPrefix(name, variablePrefix) && !known[name] && !ServiceLink(name, env[name]) {
			found.add("environment: unknown variable %s%s", name, hint(name, named, known))
		}
	}
}

// hint returns a hint for an unknown variable, or "".
func hint(variable string, named []namedGroups, known map[string]bool) string {
	if text := replacedVariable(variable); text != "" {
		return text
	}
	for _, g := range named {
		if text := g.suggest(variable); text != "" {
			return text
		}
	}
	return lists.DidYouMean(variable, slices.Sorted(maps.Keys(known)))
}

func (f field) setFromVariable(env environment, known map[string]bool, found *problems) {
	name := f.variable()
	known[name] = true
	if text, ok := env[name]; ok && !ServiceLink(name, text) {
		found.check(f.key, f.set(text))
	}
}

// setFromFile reads the value from the file that <variable>_FILE names. It removes one
// trailing newline, which editors add.
func (f field) setFromFile(env environment, known map[string]bool, found *problems) {
	name := f.variable() + fileSuffix
	known[name] = true
	path, ok := env[name]
	if !ok {
		return
	}
	if _, both := env[f.variable()]; both {
		found.add("%s (%s): must not be set together with %s", f.key, f.variable(), name)
		return
	}
	content, err := ReadFile(path)
	if err == nil {
		text := strings.TrimSuffix(string(content), "\n")
		err = f.set(strings.TrimSuffix(text, "\r"))
	}
	if err != nil {
		found.add("%s (%s): %v", f.key, name, err)
	}
}

// setFromPrefix adds a member for each variable with the key's prefix. The rest of the
// variable's name, in lower case, is the member's name.
func (f field) setFromPrefix(env environment, known map[string]bool) {
	prefix := f.variable() + "_"
	known[prefix+"<MEMBER>"] = true // for suggestions
	values := make(map[string]string)
	if !f.value.IsNil() {
		maps.Copy(values, f.value.Interface().(map[string]string))
	}
	for name, value := range env {
		if key, ok := strings.CutPrefix(name, prefix); ok && key != "" {
			known[name] = true
			values[strings.ToLower(key)] = value
		}
	}
	if len(values) > 0 {
		f.value.Set(reflect.ValueOf(values))
	}
}

// Kubernetes sets variables in every container for each service of its namespace, with
// the service's name as prefix. If a service is called guidon, these variables must
// not be reported as unknown; if one is called guidon-db, GUIDON_DB_PORT is not the key.
var (
	serviceLinkName  = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$`)
	serviceLinkValue = regexp.MustCompile(`^(tcp|udp|sctp)://`)
)

// ServiceLink reports whether Kubernetes has set the variable for a service.
func ServiceLink(name, value string) bool {
	return serviceLinkName.MatchString(name) || strings.HasSuffix(name, "_PORT") && serviceLinkValue.MatchString(value)
}

// TokenFrom returns the token for commands from the environment, or "" if there is
// none.
func TokenFrom(environ []string) (string, error) {
	env := newEnvironment(environ)
	token, path := strings.TrimSpace(env["GUIDON_TOKEN"]), env["GUIDON_TOKEN_FILE"]
	if path == "" {
		return token, nil
	}
	if token != "" {
		return "", fmt.Errorf("GUIDON_TOKEN and GUIDON_TOKEN_FILE are both set; unset one")
	}
	return TokenFile(path)
}

// TokenFile returns the token in the file, which must have one: it was named so that no other
// token is used.
func TokenFile(path string) (string, error) {
	content, err := ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the token file: %w", err)
	}
	token := strings.TrimSpace(string(content))
	if token == "" {
		return "", fmt.Errorf("the token file %s is empty", path)
	}
	return token, nil
}

// Client holds the settings of the environment for the server that commands work on.
type Client struct {
	Address   string // a URL, or the name of a context
	Namespace string
	CAFile    string
	Database  bool // it names a database to work on
}

// ClientFrom returns the settings of the environment.
func ClientFrom(environ []string) Client {
	env := newEnvironment(environ)
	c := Client{Address: env["GUIDON_ADDRESS"], Namespace: env["GUIDON_NAMESPACE"], CAFile: env["GUIDON_CA_FILE"]}
	for _, name := range []string{"GUIDON_DB_URL", "GUIDON_DB_PROTOCOL", "GUIDON_DB_HOST", "GUIDON_DB_NAME"} {
		c.Database = c.Database || env[name] != "" || env[name+fileSuffix] != ""
	}
	return c
}

// ContextsFile returns the path of the file of the contexts of the command line, or "" if
// the user's configuration directory is not known.
func ContextsFile(environ []string) string {
	return newEnvironment(environ).inUserDir("contexts.yml")
}
