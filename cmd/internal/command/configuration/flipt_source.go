package configuration

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// setting is one key of Flipt with its value, or a group of which nothing has a
// counterpart.
type setting struct {
	key     string
	value   *yaml.Node // nil for null
	comment string
	origin  string   // where it is set, for messages
	keys    []string // those in a group without counterpart
	known   bool
	entry   config.FliptKey
}

// maxNames is how many keys of a group a message names.
const maxNames = 8

// names returns the key, or those of a group, for messages.
func (s *setting) names() string {
	if len(s.keys) == 0 {
		return s.key
	}
	if n := len(s.keys) - maxNames; n > 0 {
		return strings.Join(s.keys[:maxNames], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(s.keys, ", ")
}

// read collects the settings of the file, and then those of the environment, which
// replace them.
func (t *translation) read() error {
	if t.source.File != nil {
		if err := t.readFile(); err != nil {
			return err
		}
	}
	environ := slices.Clone(t.source.Environ)
	slices.Sort(environ)
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if rest, ok := strings.CutPrefix(name, config.FliptPrefix); ok && value != "" {
			t.readVariable(name, rest, value)
		}
	}
	return nil
}

func (t *translation) readFile() error {
	root, err := config.ParseFile(t.source.File)
	if err != nil {
		return fmt.Errorf("%s: must be YAML or JSON: %w", t.source.Name, err)
	}
	if root == nil {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		return fmt.Errorf("%s line %d: must be a mapping of keys to values, as in Flipt's config.yml", t.source.Name, root.Line)
	}
	return t.group("", root, 0)
}

// maxDepth is how deep groups may be nested. Flipt's are six deep.
const maxDepth = 20

// group reads the members of a mapping, whose keys Flipt compares in lower case.
func (t *translation) group(key string, node *yaml.Node, depth int) error {
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], config.Resolve(node.Content[i+1])
		member := strings.ToLower(name.Value)
		if key != "" {
			member = key + "." + member
		}
		rule := ""
		switch {
		case name.ShortTag() == "!!merge":
			rule = "is not supported; write the keys out"
		case seen[member]:
			rule = "duplicate key " + name.Value
		case depth == maxDepth:
			rule = "is nested too deeply"
		}
		if rule != "" {
			return fmt.Errorf("%s line %d: %s: %s", t.source.Name, name.Line, member, rule)
		}
		if err := t.member(member, name, value, depth); err != nil {
			return err
		}
		seen[member] = true
	}
	return nil
}

func (t *translation) member(key string, name, value *yaml.Node, depth int) error {
	entry, known := config.FindFlipt(key)
	whole := known && (config.FliptIsWhole(key) || config.FliptHasMembers(key))
	if value != nil && value.Kind == yaml.MappingNode && !whole {
		return t.group(key, value, depth+1)
	}
	s := &setting{
		key: key, value: value, known: known, entry: entry,
		comment: comment(name, value),
		origin:  fmt.Sprintf("%s line %d", t.source.Name, name.Line),
	}
	if whole && value != nil && value.Kind == yaml.MappingNode {
		s.keys = leaves(key, value, 0)
	}
	t.order = append(t.order, s)
	t.settings[key] = s
	return nil
}

// comment returns the comments about a key, without their signs.
func comment(name, value *yaml.Node) string {
	text := name.HeadComment + "\n" + name.LineComment
	if value != nil {
		text += "\n" + value.LineComment
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(strings.TrimLeft(line, "# \t")); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// leaves returns the keys in a mapping.
func leaves(key string, node *yaml.Node, depth int) []string {
	var keys []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		member := key + "." + node.Content[i].Value
		value := config.Resolve(node.Content[i+1])
		if value != nil && value.Kind == yaml.MappingNode && depth < maxDepth {
			keys = append(keys, leaves(member, value, depth+1)...)
		} else {
			keys = append(keys, member)
		}
	}
	return keys
}

// readVariable adds or replaces the setting of a variable.
func (t *translation) readVariable(name, rest, value string) {
	entry, middle, known := config.FindFliptVariable(rest)
	if config.ServiceLink(name, value) {
		return
	}
	key := strings.ReplaceAll(entry.Key, "*", middle)
	switch {
	case !known:
		key = name
	case config.FliptHasMembers(entry.Key):
		t.readMember(key, middle, name, value, entry)
		return
	case middle != "" && key == entry.Key:
		key = name // of a group without counterpart
	}
	s := t.settings[key]
	if s == nil {
		s = new(setting)
		t.order = append(t.order, s)
		t.settings[key] = s
	}
	*s = setting{key: key, value: scalar(value), known: known, entry: entry, origin: name, comment: s.comment}
}

// readMember adds a member of a map, which has a variable of its own.
func (t *translation) readMember(key, member, name, value string, entry config.FliptKey) {
	s := t.settings[key]
	if s == nil || s.value == nil || s.value.Kind != yaml.MappingNode {
		s = &setting{key: key, value: &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, known: true, entry: entry, origin: name}
		t.order = append(t.order, s)
		t.settings[key] = s
	}
	for i := 0; i+1 < len(s.value.Content); i += 2 {
		if strings.EqualFold(s.value.Content[i].Value, member) {
			s.value.Content[i+1] = scalar(value)
			return
		}
	}
	s.value.Content = append(s.value.Content, scalar(member), scalar(value))
}
