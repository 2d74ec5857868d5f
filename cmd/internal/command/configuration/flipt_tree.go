package configuration

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// tree is a configuration file that is being written, or a group in it: its members and comments
// in order.
type tree struct{ entries []*entry }

// entry is a comment, a key with its value, or a group.
type entry struct {
	name     string
	comments []string
	value    *yaml.Node
	group    *tree
	refused  bool // the key is a comment, too
}

// put sets a key.
func (t *tree) put(key string, value *yaml.Node, comments ...string) {
	t = t.at(parent(key))
	name := key[strings.LastIndexByte(key, '.')+1:]
	for _, existing := range t.entries {
		if existing.name == name && !existing.refused {
			existing.value, existing.comments = value, append(existing.comments, comments...)
			return
		}
	}
	t.entries = append(t.entries, &entry{name: name, value: value, comments: comments})
}

// find returns the entry of a key or group, or nil.
func (t *tree) find(key string) (found *entry) {
	for name := range strings.SplitSeq(key, ".") {
		if t == nil {
			return nil
		}
		i := slices.IndexFunc(t.entries, func(e *entry) bool { return e.name == name })
		if i < 0 {
			return nil
		}
		found = t.entries[i]
		t = found.group
	}
	return found
}

// at returns the group with the key, which is empty for the whole file.
func (t *tree) at(key string) *tree {
	if key == "" {
		return t
	}
	t = t.at(parent(key))
	name := key[strings.LastIndexByte(key, '.')+1:]
	for _, e := range t.entries {
		if e.name == name && e.group != nil {
			return e.group
		}
	}
	e := &entry{name: name, group: new(tree)}
	t.entries = append(t.entries, e)
	return e.group
}

// remark adds a comment to the group, or to the closest one around it that exists in
// Guidon.
func (t *tree) remark(group, text string) {
	t = t.closest(group)
	t.entries = append(t.entries, &entry{comments: []string{text}})
}

// refuse adds a key that is a comment to the closest group that exists in Guidon.
func (t *tree) refuse(key string, value *yaml.Node, comment string) {
	t = t.closest(parent(key))
	t.entries = append(t.entries, &entry{name: key, value: value, comments: []string{comment}, refused: true})
}

// closest returns the group, or the closest one around it that exists in Guidon.
func (t *tree) closest(group string) *tree {
	for group != "" && config.KindOf(group) != config.KindGroup {
		group = parent(group)
	}
	return t.at(group)
}

// has reports whether there are keys in the group, which may be refused, and not only
// remarks.
func (t *tree) has() bool {
	return slices.ContainsFunc(t.entries, func(e *entry) bool {
		return e.refused || e.value != nil || e.group != nil && e.group.has()
	})
}

// text returns the file.
func (t *tree) text() []byte {
	var out bytes.Buffer
	t.write(&out, "")
	return out.Bytes()
}

func (t *tree) write(out *bytes.Buffer, indent string) {
	for _, e := range t.entries {
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
	case value.Kind == yaml.MappingNode && len(value.Content) > 0:
		fmt.Fprintf(out, "%s%s:\n", indent, name)
		for i := 0; i+1 < len(value.Content); i += 2 {
			fmt.Fprintf(out, "%s  %s: %s\n", indent, inline(value.Content[i]), inline(config.Resolve(value.Content[i+1])))
		}
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
