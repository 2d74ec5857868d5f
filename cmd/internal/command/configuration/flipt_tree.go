package configuration

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
)

// tree is a configuration file that is being written.
type tree struct {
	file    yaml.Node // a mapping
	remarks []remark
}

// remark is a comment about a group, which the file may lack.
type remark struct{ group, text string }

// remark adds a comment to the group, or to the closest one around it that the file has in the end.
func (t *tree) remark(group, text string) { t.remarks = append(t.remarks, remark{group, text}) }

// put sets a key.
func (t *tree) put(key string, value *yaml.Node, comments ...string) {
	name, present := t.find(key)
	if name == nil {
		name, present = t.add(key)
	}
	*present = *plain(value)
	for _, comment := range comments {
		name.HeadComment += commentLines(comment)
	}
}

// find returns the name and the value of a key or group, or nil.
func (t *tree) find(key string) (name, value *yaml.Node) {
	in := &t.file
	if group := parent(key); group != "" {
		_, in = t.find(group)
	}
	for i := 0; in != nil && in.Kind != yaml.SequenceNode && i < len(in.Content); i += 2 {
		if in.Content[i].Value == lastName(key) {
			return in.Content[i], in.Content[i+1]
		}
	}
	return nil, nil
}

// add adds a key or group, and the groups around it.
func (t *tree) add(key string) (name, value *yaml.Node) {
	in := &t.file
	if group := parent(key); group != "" {
		if _, in = t.find(group); in == nil || in.Kind != yaml.MappingNode {
			_, in = t.add(group)
			in.Kind = yaml.MappingNode
		}
	}
	name, value = scalar(lastName(key)), new(yaml.Node)
	in.Content = append(in.Content, name, value)
	return name, value
}

func lastName(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// text returns the file.
func (t *tree) text() ([]byte, error) {
	var out bytes.Buffer
	for _, r := range t.remarks {
		name, _ := t.find(r.group)
		for name == nil && r.group != "" {
			r.group = parent(r.group)
			name, _ = t.find(r.group)
		}
		if name == nil {
			out.WriteString(commentLines(r.text))
		} else {
			name.HeadComment += commentLines(r.text)
		}
	}
	for i := 0; i < len(t.file.Content); i += 2 {
		if out.Len() > 0 {
			out.WriteByte('\n')
		}
		encoder := yaml.NewEncoder(&out)
		encoder.SetIndent(2)
		group := &yaml.Node{Kind: yaml.MappingNode, Content: t.file.Content[i : i+2]}
		if err := errors.Join(encoder.Encode(group), encoder.Close()); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), nil
}

func commentLines(text string) (lines string) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		lines += config.Comment("", paragraph)
	}
	return lines
}

// plain returns a copy of the value without comments and aliases. What a list or mapping must not
// contain becomes null, which Guidon does not accept either.
func plain(value *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: value.Kind, Tag: value.Tag, Value: value.Value, Style: value.Style &^ yaml.FlowStyle}
	if strings.ContainsAny(c.Value, "\r\n") {
		c.Style, c.Tag = yaml.DoubleQuotedStyle, "!!str"
	}
	for _, item := range value.Content {
		if item = config.Resolve(item); item == nil || item.Kind != yaml.ScalarNode {
			item = &yaml.Node{Kind: yaml.ScalarNode, Value: "null"}
		}
		c.Content = append(c.Content, plain(item))
	}
	return c
}

// scalar returns a node for a text that is a value as YAML writes it.
func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
	if n.ShortTag() == "!!null" || !utf8.ValidString(text) {
		n.Tag = "!!str"
	}
	return n
}
