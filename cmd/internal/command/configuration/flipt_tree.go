package configuration

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// tree is a configuration file that is being written: groups with their members and
// comments in order.
type tree struct{ root *branch }

type branch struct {
	entries []*entry
}

// entry is a comment, a key with its value, or a group.
type entry struct {
	name     string
	comments []string
	value    *yaml.Node
	group    *branch
	refused  bool // the key is a comment, too
}

func newTree() *tree { return &tree{root: new(branch)} }

// put sets a key.
func (t *tree) put(key string, value *yaml.Node, comments ...string) {
	e := t.root
	path := strings.Split(key, ".")
	for _, name := range path[:len(path)-1] {
		e = e.sub(name)
	}
	name := path[len(path)-1]
	for _, existing := range e.entries {
		if existing.name == name && !existing.refused {
			existing.value, existing.comments = value, append(existing.comments, comments...)
			return
		}
	}
	e.entries = append(e.entries, &entry{name: name, value: value, comments: comments})
}

// find returns the entry of a key or group, or nil.
func (t *tree) find(key string) *entry {
	var found *entry
	b := t.root
	for name := range strings.SplitSeq(key, ".") {
		if b == nil {
			return nil
		}
		i := slices.IndexFunc(b.entries, func(e *entry) bool { return e.name == name })
		if i < 0 {
			return nil
		}
		found = b.entries[i]
		b = found.group
	}
	return found
}

// sub returns the group of the name.
func (b *branch) sub(name string) *branch {
	for _, e := range b.entries {
		if e.name == name && e.group != nil {
			return e.group
		}
	}
	e := &entry{name: name, group: new(branch)}
	b.entries = append(b.entries, e)
	return e.group
}

// remark adds a comment to the group, or to the closest one around it that exists in
// Guidon.
func (t *tree) remark(group, text string) {
	b := t.closest(group)
	b.entries = append(b.entries, &entry{comments: []string{text}})
}

// refuse adds a key that is a comment to the closest group that exists in Guidon.
func (t *tree) refuse(key string, value *yaml.Node, comment string) {
	b := t.closest(parent(key))
	b.entries = append(b.entries, &entry{name: key, value: value, comments: []string{comment}, refused: true})
}

// closest returns the group, or the closest one around it that exists in Guidon.
func (t *tree) closest(group string) *branch {
	for group != "" && config.KindOf(group) != config.KindGroup {
		group = parent(group)
	}
	b := t.root
	if group != "" {
		for name := range strings.SplitSeq(group, ".") {
			b = b.sub(name)
		}
	}
	return b
}

// has reports whether there are keys in the group, which may be refused, and not only
// remarks.
func (b *branch) has() bool {
	return slices.ContainsFunc(b.entries, func(e *entry) bool {
		return e.refused || e.value != nil || e.group != nil && e.group.has()
	})
}

// text returns the file.
func (t *tree) text() []byte {
	var out bytes.Buffer
	t.root.write(&out, "")
	return out.Bytes()
}

func (b *branch) write(out *bytes.Buffer, indent string) {
	for _, e := range b.entries {
		remarks := e.group != nil && !e.group.has() // which are separated themselves
		if indent == "" && out.Len() > 0 && !remarks {
			out.WriteByte('\n')
		}
		for _, comment := range e.comments {
			for paragraph := range strings.SplitSeq(comment, "\n") {
				out.WriteString(config.Comment(indent, paragraph))
			}
		}
		switch {
		case e.refused:
			e.writeRefused(out, indent)
		case e.group != nil && e.group.has():
			fmt.Fprintf(out, "%s%s:\n", indent, e.name)
			e.group.write(out, indent+"  ")
		case e.group != nil:
			e.group.write(out, indent)
		case e.value != nil:
			writeValue(out, indent, e.name, e.value)
		}
	}
}

// writeRefused writes the key, or the group, as lines of comments.
func (e *entry) writeRefused(out *bytes.Buffer, indent string) {
	var lines bytes.Buffer
	if e.group != nil {
		fmt.Fprintf(&lines, "%s:\n", e.name)
		e.group.write(&lines, "  ")
	} else {
		writeValue(&lines, "", e.name, e.value)
	}
	for line := range strings.Lines(lines.String()) {
		out.WriteString(indent + "# " + line)
	}
}

// writeValue writes a key with a value of one line, or one line for each element or
// member.
func writeValue(out *bytes.Buffer, indent, name string, value *yaml.Node) {
	switch {
	case value == nil:
		fmt.Fprintf(out, "%s%s:\n", indent, name)
	case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
		fmt.Fprintf(out, "%s%s:\n", indent, name)
		for _, item := range value.Content {
			fmt.Fprintf(out, "%s  - %s\n", indent, inline(config.Resolve(item)))
		}
	case value.Kind == yaml.SequenceNode:
		fmt.Fprintf(out, "%s%s: []\n", indent, name)
	case value.Kind == yaml.MappingNode && len(value.Content) > 0:
		fmt.Fprintf(out, "%s%s:\n", indent, name)
		for i := 0; i+1 < len(value.Content); i += 2 {
			fmt.Fprintf(out, "%s  %s: %s\n", indent, inline(value.Content[i]), inline(config.Resolve(value.Content[i+1])))
		}
	case value.Kind == yaml.MappingNode:
		fmt.Fprintf(out, "%s%s: {}\n", indent, name)
	default:
		fmt.Fprintf(out, "%s%s: %s\n", indent, name, inline(value))
	}
}

// inline returns a single value on one line. Something else becomes a flow value, which
// the check of the result then rejects.
func inline(node *yaml.Node) string {
	if node == nil {
		return "null"
	}
	plain := yaml.Node{Kind: node.Kind, Value: node.Value, Tag: node.Tag, Content: node.Content,
		Style: node.Style &^ (yaml.LiteralStyle | yaml.FoldedStyle)}
	if node.Kind != yaml.ScalarNode {
		plain.Style = yaml.FlowStyle
	} else if strings.ContainsAny(node.Value, "\n\r") || plain.Tag == "" && needsQuotes(node.Value) {
		plain.Style, plain.Tag = yaml.DoubleQuotedStyle, "!!str"
	}
	text, err := yaml.Marshal(&plain)
	if err != nil {
		return fmt.Sprintf("%q", node.Value)
	}
	return strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", " ")
}

// needsQuotes reports whether a text from the environment would otherwise be read as
// something else.
func needsQuotes(text string) bool {
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil || len(node.Content) != 1 {
		return true
	}
	value := node.Content[0]
	return value.Kind != yaml.ScalarNode || value.Value != text || value.ShortTag() == "!!null" || node.HeadComment+value.LineComment+value.HeadComment != ""
}
