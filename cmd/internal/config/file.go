package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/internal/lists"
)

// fileLoader reads one YAML file into a Config.
type fileLoader struct {
	path     string
	env      environment
	problems *problems
	keys     map[string]field       // by key
	groups   map[string][]string    // names within each group, in order
	named    map[string]namedGroups // by key
}

func loadFile(c *Config, path string, env environment, found *problems) {
	content, err := ReadFile(path)
	if err != nil {
		found.add("file: %v; specify another with --config, or create one with \"guidon config init\"", err)
		return
	}
	loadText(c, path, content, env, found)
}

// loadText reads the text of a file. The path is for error messages.
func loadText(c *Config, path string, text []byte, env environment, found *problems) {
	root, err := ParseFile(text)
	if err != nil {
		found.add("%s: %v", path, err)
		return
	}
	if root == nil {
		return
	}
	loader := &fileLoader{
		path: path, env: env, problems: found,
		keys: make(map[string]field), groups: make(map[string][]string), named: make(map[string]namedGroups),
	}
	loader.learn(reflect.ValueOf(c).Elem(), "")
	loader.group("", root)
}

// learn adds the keys and groups of the struct, which is the group with the key.
func (l *fileLoader) learn(v reflect.Value, group string) {
	walker{
		enter: func(s section) { l.addName(s.key) },
		names: func(g namedGroups) { l.named[g.key] = g },
		visit: func(f field) {
			l.addName(f.key)
			l.keys[f.key] = f
		},
	}.walk(v, group, -1)
}

// ParseFile returns the root node of the only YAML document, or nil for an empty one.
func ParseFile(content []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	var document, more yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("must contain only one YAML document")
	}
	return Resolve(&document), nil
}

// Resolve returns the node that a document or an alias stands for, or nil for null.
func Resolve(node *yaml.Node) *yaml.Node {
	for range 10 { // an alias of an alias is impossible, but must not loop forever
		switch {
		case node.Kind == yaml.DocumentNode && len(node.Content) > 0:
			node = node.Content[0]
		case node.Kind == yaml.AliasNode:
			node = node.Alias
		case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
			return nil
		default:
			return node
		}
	}
	return nil
}

// addName adds a key or group to the names of its parent group.
func (l *fileLoader) addName(key string) {
	parent, name := "", key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		parent, name = key[:i], key[i+1:]
	}
	l.groups[parent] = append(l.groups[parent], name)
}

// at returns the position of the node, for error messages.
func (l *fileLoader) at(node *yaml.Node) string {
	return fmt.Sprintf("%s line %d", l.path, node.Line)
}

// group reads the members of a mapping. The recursion is limited by the depth of
// Config, because unknown names are not followed.
func (l *fileLoader) group(key string, node *yaml.Node) {
	if node.Kind != yaml.MappingNode {
		name := cmp.Or(key, "the file")
		l.problems.add("%s: %s must be a mapping of keys to values", l.at(node), name)
		return
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], Resolve(node.Content[i+1])
		member := name.Value
		if key != "" {
			member = key + "." + name.Value
		}
		if seen[name.Value] {
			l.problems.add("%s: duplicate key %s", l.at(name), member)
			continue
		}
		seen[name.Value] = true
		l.member(key, member, name, value)
	}
}

// member reads one member of a group; a value of null leaves the default.
func (l *fileLoader) member(group, key string, name, value *yaml.Node) {
	f, isKey := l.keys[key]
	_, isGroup := l.groups[key]
	named, isNamed := l.named[group]
	if _, ok := l.named[key]; ok {
		isGroup = true
	}
	switch {
	case isNamed:
		l.namedGroup(named, key, name, value)
	case !isKey && !isGroup:
		l.problems.add("%s: unknown key %s%s", l.at(name), key, l.suggest(group, key, name.Value))
	case value == nil:
	case isGroup:
		l.group(key, value)
	default:
		if err := l.value(f, value); err != nil {
			l.problems.list = append(l.problems.list, Problem{At: l.at(value), Key: key, Variable: f.variable(), Rule: err.Error()})
		}
	}
}

// namedGroup reads a group whose name the operator chose. Without a value it has the
// defaults.
func (l *fileLoader) namedGroup(g namedGroups, key string, name, value *yaml.Node) {
	if err := g.checkName(name.Value); err != nil {
		l.problems.list = append(l.problems.list, Problem{At: l.at(name), Key: key, Rule: err.Error()})
		return
	}
	g.add(name.Value)
	l.learn(g.value.MapIndex(reflect.ValueOf(name.Value)).Elem(), key)
	if value != nil {
		l.group(key, value)
	}
}

// suggest returns a hint for an unknown name: its replacement, a similar name in the same
// group, the same name in another group, or a similar key.
func (l *fileLoader) suggest(group, key, name string) string {
	if k, _ := FindFlipt(key); k.hint() != "" {
		return k.hint()
	}
	if text := lists.DidYouMean(name, l.groups[group]); text != "" {
		return text
	}
	for _, other := range slices.Sorted(maps.Keys(l.keys)) {
		if strings.HasSuffix(other, "."+name) {
			return fmt.Sprintf("; did you mean %s?", other)
		}
	}
	return lists.DidYouMean(key, slices.Sorted(maps.Keys(l.keys)))
}

// value sets the field from the node.
func (l *fileLoader) value(f field, node *yaml.Node) error {
	switch {
	case f.isMap():
		return l.mapValue(f, node)
	case f.isList() && node.Kind == yaml.SequenceNode:
		return l.listValue(f, node)
	case f.isList() && node.Kind == yaml.MappingNode && f.tag.Get("notMap") != "":
		return errors.New("must be a list, not a mapping: " + f.tag.Get("notMap"))
	case node.Kind != yaml.ScalarNode:
		return fmt.Errorf("must be a single value (%s)", f.kind())
	}
	text, err := l.substitute(node.Value)
	if err != nil {
		return err
	}
	return f.set(text)
}

func (l *fileLoader) listValue(f field, node *yaml.Node) error {
	list := make([]string, 0, len(node.Content))
	for _, item := range node.Content {
		item = Resolve(item)
		if item == nil || item.Kind != yaml.ScalarNode {
			return errors.New("must be a list of strings")
		}
		text, err := l.substitute(item.Value)
		if err != nil {
			return err
		}
		list = append(list, text)
	}
	f.value.Set(reflect.ValueOf(list))
	return nil
}

func (l *fileLoader) mapValue(f field, node *yaml.Node) error {
	if node.Kind != yaml.MappingNode {
		return errors.New("must be a mapping of strings to strings")
	}
	values := make(map[string]string, len(node.Content)/2)
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, item := node.Content[i].Value, Resolve(node.Content[i+1])
		if !f.keepsCase() {
			key = strings.ToLower(key)
		}
		if item == nil || item.Kind != yaml.ScalarNode {
			return fmt.Errorf("%s must be a string", key)
		}
		if _, twice := values[key]; twice {
			return f.duplicate(key)
		}
		text, err := l.substitute(item.Value)
		if err != nil {
			return err
		}
		values[key] = text
	}
	f.value.Set(reflect.ValueOf(values))
	return nil
}

func (f field) duplicate(key string) error {
	if f.keepsCase() {
		return fmt.Errorf("duplicate key %s", key)
	}
	return fmt.Errorf("duplicate key %s (keys are converted to lower case)", key)
}

// substitute replaces a value of the form ${NAME} with that variable (operations 2.1).
// A variable that is not set is an error, not an empty value.
func (l *fileLoader) substitute(text string) (string, error) {
	name, ok := strings.CutPrefix(text, "${")
	if !ok || !strings.HasSuffix(name, "}") {
		return text, nil
	}
	name = strings.TrimSuffix(name, "}")
	if name == "" || strings.ContainsAny(name, "${}") {
		return text, nil
	}
	value, ok := l.env[name]
	if !ok {
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return value, nil
}
