package config

import (
	"fmt"
	"os"
	"strings"
)

const referenceHead = `# Configuration

The configuration is one YAML file, overridden by environment variables. The file is the one that ` + "`--config`" + ` names;
otherwise ` + "`guidon/config.yml`" + ` in the user's configuration folder (` + "`$XDG_CONFIG_HOME`" + `, usually ` + "`~/.config`" + `); otherwise
` + "`" + systemFile + "`" + `; otherwise there is none, and the defaults hold.

` + "`guidon config init`" + ` writes a file with every key and its default, ` + "`guidon config check`" + ` tells everything that is wrong
with a file and the environment, without starting anything. The server refuses to start with an unknown key, an unknown
` + "`GUIDON_`" + ` variable or a bad value, and names all of them at once.

## How values are written

- **Durations** have a unit: ` + "`500ms`, `30s`, `5m`, `1h30m`" + `. A bare number is refused.
- **Lists** are YAML lists; in a variable, and in a YAML text, the items are separated by spaces.
- **Maps** are YAML mappings; in the environment, one variable for each member, whose name is the key's variable, an
  underscore and the member's name (which is lower-cased).
- **Substitution**: a value in the file that is exactly ` + "`${NAME}`" + ` is replaced by that variable, which must be set.
- **Files**: each key that is neither a list nor a map can be given as a file: the variable with ` + "`_FILE`" + ` at its end names a
  file that holds the value, without its last line break. So secrets need not be in the environment:
  ` + "`GUIDON_AUTHENTICATION_METHODS_TOKEN_BOOTSTRAP_TOKEN_FILE=/run/secrets/guidon-token`" + `.
- **AWS**: ` + "`db.url`" + `, and each key marked as secret that is neither a list nor a map, can be given as where AWS keeps it:
  ` + "`aws-sm://name#key`" + ` is a member of the JSON object in a secret of Secrets Manager, ` + "`aws-sm://name`" + ` all of the secret, and
  ` + "`aws-ssm://name`" + ` a parameter of Parameter Store, decrypted. An ARN will do for a name. It is fetched once, at the start, with the
  credentials and in the region that the AWS SDK finds; on AWS Lambda, those of the environment.
- **An empty variable** counts as not set.
- The variables that Kubernetes sets for a service named ` + "`guidon`" + ` (such as ` + "`GUIDON_SERVICE_HOST`" + `) are left alone.
`

// reference returns the documentation of every key, in Markdown: what
// docs/configuration.md has to be.
func reference() string {
	var text strings.Builder
	text.WriteString(referenceHead)
	const head = "\n| Key | Variable | Type | Default | Meaning |\n|---|---|---|---|---|\n"
	fmt.Fprintf(&text, "\n## The file itself\n%s", head)
	walk(new(Config), func(s section) {
		if !strings.Contains(s.key, ".") {
			fmt.Fprintf(&text, "\n## %s\n\n%s\n%s", s.key, s.doc, head)
		}
	}, func(f field) {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s | %s |\n", f.key, f.referenceVariable(), f.referenceKind(), f.referenceDefault(), f.doc())
	})
	text.WriteString("\n## Variables of the command line\n\n| Variable | Meaning |\n|---|---|\n")
	for _, extra := range Extras() {
		fmt.Fprintf(&text, "| `%s` | %s |\n", extra.Variable, extra.Doc)
	}
	return text.String()
}

func (f field) referenceVariable() string {
	if f.isMap() {
		return "`" + f.variable() + "_<NAME>`"
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

// defaultText returns the default for readers.
func (f field) defaultText() string {
	if text := f.tag.Get("defaultText"); text != "" {
		return text
	}
	return f.tag.Get("default")
}

func (f field) isScalar() bool { return !f.isMap() && !f.isList() }

// standard returns the configuration without a file and an environment, but for
// the place of the user's configuration folder.
func standard() *Config { return defaults(newEnvironment(os.Environ())) }
