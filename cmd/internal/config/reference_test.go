package config

import (
	"fmt"
	"os"
	"strings"
)

const referenceHead = `# Configuration

The configuration is a YAML file, overridden by environment variables. The file is the one given by ` + "`--config`" + `, else
` + "`guidon/config.yml`" + ` in the user's configuration directory (` + "`$XDG_CONFIG_HOME`" + `, usually ` + "`~/.config`" + `), else
` + "`" + systemFile + "`" + `, else none, and the defaults apply.

` + "`guidon config init`" + ` writes a file with every key and its default. ` + "`guidon config check`" + ` reports all errors in a file and
the environment without starting anything. ` + "`guidon config edit`" + ` opens the file in your editor and replaces it only with one that has no
errors. The server does not start with an unknown key, an unknown ` + "`GUIDON_`" + ` variable
or an invalid value, and reports all of them together.

## How values are written

- **Durations** have a unit: ` + "`500ms`, `30s`, `5m`, `1h30m`" + `. A number without a unit is rejected.
- **Lists** are YAML lists. In a variable or a YAML string, the items are separated by spaces.
- **Maps** are YAML mappings. In the environment, each member is a variable whose name is the key's variable, an
  underscore and the member's name, which is converted to lower case.
- **Groups with a name of your choice**, such as the OpenID providers: the name is lower-case letters, digits, ` + "`_` and `-`" + `, 32 at
  most. In a variable it is in upper case: ` + "`GUIDON_AUTHENTICATION_METHODS_OIDC_PROVIDERS_GOOGLE_CLIENT_ID`" + ` is the key ` + "`client_id`" + ` of
  the provider ` + "`google`" + `.
- **Substitution**: a value in the file of the form ` + "`${NAME}`" + ` is replaced with that variable, which must be set.
- **Files**: each key that is neither a list nor a map can be read from a file, so that secrets need not be in the
  environment. The variable with the suffix ` + "`_FILE`" + ` names the file, whose trailing line break is ignored:
  ` + "`GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN_FILE=/run/secrets/guidon-token`" + `.
- **AWS**: ` + "`db.url`" + `, and each key marked as secret that is neither a list nor a map, can refer to a value stored in AWS.
  ` + "`aws-sm://name#key`" + ` is a member of the JSON object in a Secrets Manager secret, ` + "`aws-sm://name`" + ` is the entire secret, and
  ` + "`aws-ssm://name`" + ` is a decrypted parameter of Parameter Store. A name can be an ARN. The value is fetched once, at the
  start, with the credentials and in the region that the AWS SDK finds; on AWS Lambda, those of the environment.
- **Empty variables** count as not set.
- The variables that Kubernetes sets for a service named ` + "`guidon`" + ` (such as ` + "`GUIDON_SERVICE_HOST`" + `) are ignored.
`

// reference returns the documentation of every key, the content of
// docs/configuration.md.
func reference() string {
	var text strings.Builder
	text.WriteString(referenceHead)
	const head = "\n| Key | Variable | Type | Default | Meaning |\n|---|---|---|---|---|\n"
	fmt.Fprintf(&text, "\n## General\n%s", head)
	walk(withNames(anyName), func(s section) {
		if s.names {
			fmt.Fprintf(&text, "| `%s` | `%s_%s_…` | group | none | %s |\n", s.key, variableOf(s.key), strings.ToUpper(anyName), cell(s.doc()))
		}
		if !strings.Contains(s.key, ".") {
			fmt.Fprintf(&text, "\n## %s\n\n%s\n%s", s.key, s.doc(), head)
		}
	}, func(f field) {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s |\n", f.key, f.referenceVariable(), f.referenceKind(), f.referenceDefault(), cell(f.doc()))
	})
	text.WriteString("\n## Variables for commands\n\n| Variable | Meaning |\n|---|---|\n")
	for _, extra := range Extras() {
		fmt.Fprintf(&text, "| `%s` | %s |\n", extra.Variable, extra.Doc)
	}
	return text.String()
}

// anyName stands for a name that the operator chooses.
const anyName = "<name>"

// cell returns prose as the content of a cell of a Markdown table.
func cell(prose string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "<", "&lt;").Replace(prose)
}

func (f field) referenceVariable() string {
	if f.isMap() {
		return "`" + f.variable() + "_<MEMBER>`"
	}
	return "`" + f.variable() + "`"
}

func (f field) referenceKind() string {
	if len(f.options()) > 0 {
		return "`" + strings.ReplaceAll(f.kind(), ", ", "`, `") + "`"
	}
	if f.secret() && f.isScalar() {
		return f.kind() + " (secret)"
	}
	return f.kind()
}

func (f field) referenceDefault() string {
	if text := f.tag.Get("defaultText"); text != "" {
		return text
	}
	if text := f.tag.Get("default"); text != "" {
		return "`" + text + "`"
	}
	return "none"
}

// defaultText returns the default as documented.
func (f field) defaultText() string {
	if text := f.tag.Get("defaultText"); text != "" {
		return text
	}
	return f.tag.Get("default")
}

// withNames returns the defaults, with one group of the name wherever the operator chooses
// names.
func withNames(name string) *Config {
	c := standard()
	for _, g := range allNamedGroups(c) {
		g.add(name)
	}
	return c
}

// standard returns the defaults, for the user's configuration directory in the
// environment.
func standard() *Config {
	c := defaults()
	c.DB.URL = DefaultDatabase(os.Environ())
	return c
}
