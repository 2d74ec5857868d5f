package config

import (
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

const templateHead = `# Configuration of guidon. It lists every key with its default; remove the # before a
# key to change it. "guidon config check" reports errors in this file.
# Each key can also be set by an environment variable: server.http_port is
# GUIDON_SERVER_HTTP_PORT. The value ${NAME} stands for the variable NAME.

`

// Template returns a configuration file with explanations that is valid and changes
// nothing. Indentation aside, lines that start with "# " are comments, and lines that
// start with "#" and no space are keys to be uncommented.
func Template() string {
	var text strings.Builder
	text.WriteString(templateHead)
	c := new(Config)
	for _, g := range allNamedGroups(c) {
		g.add(exampleName)
	}
	walk(c, func(s section) {
		indent := indentOf(s.key)
		if indent == "" {
			text.WriteByte('\n')
		}
		text.WriteString(Comment(indent, s.doc()))
		fmt.Fprintf(&text, "%s%s%s:\n", indent, s.commentSign(), lastName(s.key))
	}, func(f field) {
		indent := indentOf(f.key)
		text.WriteString(Comment(indent, f.templateDoc()))
		if f.key == "version" {
			fmt.Fprintf(&text, "%s: %q\n", f.key, f.tag.Get("default"))
			return
		}
		fmt.Fprintf(&text, "%s#%s:%s\n", indent, f.name(), f.templateValue())
	})
	return text.String()
}

// exampleName is the name in the template of groups whose names the operator chooses.
const exampleName = "example"

// commentSign returns # for a group that is only an example.
func (s section) commentSign() string {
	if s.named {
		return "#"
	}
	return ""
}

func (f field) templateDoc() string {
	doc := f.doc()
	if options := f.options(); len(options) > 0 {
		doc += " One of " + strings.Join(options, ", ") + "."
	}
	if text := f.tag.Get("defaultText"); text != "" {
		doc += " Default: " + text + "."
	}
	return doc
}

// templateValue returns the default as YAML, with a leading space unless it is empty.
func (f field) templateValue() string {
	text := f.tag.Get("default")
	switch f.value.Interface().(type) {
	case time.Duration, int, float64, bool:
		return " " + text
	case []string:
		quoted := strings.Fields(text)
		for i := range quoted {
			quoted[i] = fmt.Sprintf("%q", quoted[i])
		}
		return " [" + strings.Join(quoted, ", ") + "]"
	case map[string]string:
		return " {}"
	}
	if text == "" {
		return "" // null, which keeps the default
	}
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") == "" {
		return " " + text
	}
	return fmt.Sprintf(" %q", text)
}

func indentOf(key string) string {
	return strings.Repeat("  ", strings.Count(key, "."))
}

func lastName(key string) string {
	return key[strings.LastIndexByte(key, '.')+1:]
}

// commentWidth is the column at which comments are wrapped.
const commentWidth = 90

// Comment returns the prose as lines of comments of a configuration file.
func Comment(indent, prose string) string {
	text, line := "", indent+"#"
	for word := range strings.FieldsSeq(prose) {
		if len(line)+1+len(word) > commentWidth && line != indent+"#" {
			text += line + "\n"
			line = indent + "#"
		}
		line += " " + word
	}
	return text + line + "\n"
}

//go:embed descriptions.yaml
var descriptionFile []byte

// descriptions returns what each key and each section is for. A star stands for a name that
// the operator chose. It is parsed when it is first needed, which a start of the service
// does not.
var descriptions = sync.OnceValue(func() map[string]string {
	var all map[string]string
	if err := yaml.Unmarshal(descriptionFile, &all); err != nil {
		panic(fmt.Sprintf("descriptions.yaml: %v", err)) // found by any test
	}
	return all
})

// doc returns what the key is for.
func (f field) doc() string { return descriptions()[pattern(f.key, f.named)] }

// doc returns what the section is for.
func (s section) doc() string { return descriptions()[pattern(s.key, s.part)] }

// pattern returns the key with a star in place of the part that the operator chose, which
// is -1 for none.
func pattern(key string, part int) string {
	if part < 0 {
		return key
	}
	parts := strings.Split(key, ".")
	parts[part] = "*"
	return strings.Join(parts, ".")
}
