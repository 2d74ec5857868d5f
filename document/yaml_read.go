package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon"
)

// jsonNumber is the grammar of JSON numbers. A plain YAML scalar of that form is a number,
// and keeps all its digits.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// failed returns an error about the node.
func failed(n *yaml.Node, format string, args ...any) error {
	return &PlacedError{n.Line, n.Column, fmt.Errorf("line %d: %s", n.Line, fmt.Sprintf(format, args...))}
}

// yamlReader converts the nodes of the YAML library. It resolves aliases and merge keys, up
// to a limit.
type yamlReader struct {
	expansion int                 // how much aliases may still expand to
	expanding map[*yaml.Node]bool // the anchored nodes being read for an alias
}

func newYAMLReader() *yamlReader {
	return &yamlReader{expansion: maxExpansion, expanding: map[*yaml.Node]bool{}}
}

func (r *yamlReader) read(n *yaml.Node, depth int) (*node, error) {
	if len(r.expanding) > 0 {
		const cost = 32 // of a value in addition to its string
		if r.expansion -= cost + len(n.Value); r.expansion < 0 {
			return nil, failed(n, "aliases expand to too much content")
		}
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return r.read(n.Content[0], depth)
	case yaml.AliasNode:
		return r.alias(n, depth)
	case yaml.SequenceNode:
		return r.sequence(n, depth)
	case yaml.MappingNode:
		return r.mapping(n, depth)
	case yaml.ScalarNode:
		return r.scalar(n)
	}
	return nil, failed(n, "unexpected content")
}

// alias reads the node that the alias refers to.
func (r *yamlReader) alias(n *yaml.Node, depth int) (*node, error) {
	if r.expanding[n.Alias] {
		return nil, failed(n, "anchor %s contains itself", guidon.Quote(n.Value))
	}
	r.expanding[n.Alias] = true
	defer delete(r.expanding, n.Alias)
	return r.read(n.Alias, depth)
}

func (r *yamlReader) sequence(n *yaml.Node, depth int) (*node, error) {
	if depth == 1 {
		return nil, failed(n, "%v", errDepth)
	}
	if tag := n.ShortTag(); tag != "!!seq" {
		return nil, failed(n, "tag %s is not supported", tag)
	}
	out := &node{kind: list, line: n.Line, column: n.Column}
	for _, item := range n.Content {
		value, err := r.read(item, depth-1)
		if err != nil {
			return nil, err
		}
		out.items = append(out.items, value)
	}
	return out, nil
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (*node, error) {
	if depth == 1 {
		return nil, failed(n, "%v", errDepth)
	}
	if tag := n.ShortTag(); tag != "!!map" {
		return nil, failed(n, "tag %s is not supported", tag)
	}
	own := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if isMerge(n.Content[i]) {
			continue
		}
		name, err := memberName(n.Content[i])
		if err != nil {
			return nil, err
		}
		if own[name] {
			return nil, failed(n.Content[i], "duplicate member %s", guidon.Quote(name))
		}
		own[name] = true
	}
	out := &node{kind: object, line: n.Line, column: n.Column}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if isMerge(key) {
			if err := r.merge(out, own, n.Content[i+1], depth); err != nil {
				return nil, err
			}
			continue
		}
		name, err := memberName(key)
		if err != nil {
			return nil, err
		}
		value, err := r.read(n.Content[i+1], depth-1)
		if err != nil {
			return nil, err
		}
		out.members = append(out.members, member{name, value, int32(key.Line), int32(key.Column)}) // #nosec G115 -- of a limited input
	}
	return out, nil
}

// merge adds the members of one or several mappings to out, except those that are taken. If
// several mappings have a member, the first one wins.
func (r *yamlReader) merge(out *node, taken map[string]bool, from *yaml.Node, depth int) error {
	source, err := r.read(from, depth)
	if err != nil {
		return err
	}
	sources := []*node{source}
	if source.kind == list {
		sources = source.items
	}
	for _, source := range sources {
		if source.kind != object {
			return failed(from, "only mappings can be merged")
		}
		for _, m := range source.members {
			if !taken[m.name] {
				taken[m.name] = true
				out.members = append(out.members, m)
			}
		}
	}
	return nil
}

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge"
}

func memberName(key *yaml.Node) (string, error) {
	if key.Kind == yaml.AliasNode {
		key = key.Alias
	}
	if key.Kind != yaml.ScalarNode {
		return "", failed(key, "the name of a member must be a string")
	}
	return key.Value, nil
}

// scalar reads a scalar. Timestamps are strings, because JSON has no such type.
func (r *yamlReader) scalar(n *yaml.Node) (*node, error) {
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	out := &node{raw: n.Value, line: n.Line, column: n.Column, plain: n.Style&(quoted|yaml.TaggedStyle) == 0}
	if out.plain && jsonNumber.MatchString(n.Value) {
		out.kind, out.text = number, n.Value
		return out, nil
	}
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!timestamp", "!!merge":
		out.kind, out.text = text, n.Value
	case "!!null":
		out.kind = null
	case "!!bool", "!!int", "!!float":
		if err := out.convert(n); err != nil {
			return nil, failed(n, "%s is not a value of type %s", guidon.Quote(n.Value), tag)
		}
	default:
		return nil, failed(n, "tag %s is not supported", tag)
	}
	return out, nil
}

// convert sets the kind and text of a boolean or number in a form that only YAML has.
func (n *node) convert(from *yaml.Node) error {
	var value any
	if err := from.Decode(&value); err != nil {
		return err
	}
	switch value := value.(type) {
	case bool:
		n.kind, n.text = boolean, strconv.FormatBool(value)
		return nil
	case int, int64, uint64, float64:
		n.kind = number
		if literal, err := json.Marshal(value); err == nil { // infinities have none
			n.text = string(literal)
		}
		return nil
	}
	return errors.New("neither a boolean nor a number")
}
