package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
)

// decoder reads documents from nodes. It records the first error and continues, so that its
// methods need not return errors.
type decoder struct {
	unknown  Unknown
	document int // the number of the current document, from 1
	version  int // minor version of the stream
	path     []string
	err      error
	observer observer // notified of all problems, or nil
}

// restarted returns a decoder with the same settings.
func (d *decoder) restarted() *decoder { return &decoder{unknown: d.unknown} }

// observer is notified of the problems that a decoder finds. With one, the decoder continues
// after errors.
type observer interface {
	invalid(at spot, path []string, text string)  // an error
	forgiven(at spot, path []string, text string) // input that is accepted although it is probably a mistake
}

// spot is a line and a column, from 1; 0 if unknown.
type spot struct{ line, column int }

func (n *node) spot() spot { return spot{n.line, n.column} }

// spot returns that of the name.
func (m member) spot() spot { return spot{int(m.line), int(m.column)} }

// textValue is a value that can be set by a name.
type textValue interface{ UnmarshalText([]byte) error }

// fields maps the members that an object may have to the functions that read them.
type fields map[string]func(n *node)

func (d *decoder) fail(n *node, format string, args ...any) {
	d.failAt(n.spot(), guidon.Errorf(guidon.InvalidArgument, format, args...).Error())
}

func (d *decoder) failAt(s spot, text string) {
	if d.observer != nil {
		d.observer.invalid(s, d.path, text)
		return
	}
	if d.err != nil {
		return
	}
	location := fmt.Sprintf("document %d", d.document)
	if s.line > 0 {
		location += fmt.Sprintf(", line %d", s.line)
	}
	location = strings.Join(append([]string{location}, d.path...), ": ")
	d.err = at(s.line, s.column, &guidon.Error{Code: guidon.InvalidArgument, Message: location + ": " + text})
}

// forgive notifies the observer of input that is accepted although it is probably a mistake.
func (d *decoder) forgive(s spot, text string) {
	if d.observer != nil {
		d.observer.forgiven(s, d.path, text)
	}
}

// at calls read with the location appended to the path.
func (d *decoder) at(location string, read func()) {
	d.path = append(d.path, location)
	read()
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) object(n *node, known fields) {
	if n.kind != object {
		d.fail(n, "must be an object, not %s", n.kind)
		return
	}
	for _, m := range n.members {
		if read := known[m.name]; read != nil {
			d.at(m.name, func() { read(m.value) })
		} else {
			d.unknownMember(m, known)
		}
	}
	for _, m := range n.repeated {
		d.forgive(m.spot(), fmt.Sprintf("duplicate member %s: the last one counts", guidon.Quote(m.name)))
	}
}

// list returns a function that reads a list by calling each for its items. Null is an empty
// list.
func (d *decoder) list(each func(n *node)) func(n *node) {
	return func(n *node) {
		if n.kind == null {
			return
		}
		if n.kind != list {
			d.fail(n, "must be a list, not %s", n.kind)
			return
		}
		name := d.path[len(d.path)-1]
		for i, item := range n.items {
			d.item(name, i, item, each)
		}
		d.path[len(d.path)-1] = name
	}
}

// item reads an item of the list whose name is last in the path.
func (d *decoder) item(name string, index int, item *node, each func(n *node)) {
	location := name + "[" + strconv.Itoa(index) + "]"
	if item.kind == null {
		d.path[len(d.path)-1] = location
		d.forgive(item.spot(), "this entry is empty and ignored")
		return
	}
	if key := item.member("key"); key != nil && key.text != "" {
		location += " " + guidon.Quote(key.text)
	}
	d.path[len(d.path)-1] = location
	each(item)
}

// text returns a function that reads a string. Other scalars are strings as written.
func (d *decoder) text(to *string) func(n *node) {
	return func(n *node) {
		switch n.kind {
		case null:
			*to = ""
		case text, number, boolean:
			*to = n.raw
		default:
			d.fail(n, "must be a string, not %s", n.kind)
		}
	}
}

// instant returns a function that reads a time.
func (d *decoder) instant(to *time.Time) func(n *node) {
	return func(n *node) {
		var value string
		if d.text(&value)(n); value == "" {
			return
		}
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			d.fail(n, "must be a time in RFC 3339, such as 2026-12-01T09:00:00Z")
		}
		*to = at
	}
}

// duration returns a function that reads a duration.
func (d *decoder) duration(to *time.Duration) func(n *node) {
	return func(n *node) {
		var value string
		if d.text(&value)(n); value == "" {
			return
		}
		duration, err := time.ParseDuration(value)
		if err != nil {
			d.fail(n, "must be a duration, such as 72h or 30m")
		}
		*to = duration
	}
}

func (d *decoder) texts(to *[]string) func(n *node) {
	return d.list(func(n *node) {
		var item string
		d.text(&item)(n)
		*to = append(*to, item)
	})
}

func (d *decoder) boolean(to *bool) func(n *node) {
	return func(n *node) {
		word := strings.ToLower(n.text)
		switch {
		case n.kind == null:
			*to = false
		case n.kind == boolean:
			*to = word == "true"
		case n.plain && slices.Contains(yaml11Booleans, word): // YAML 1.1
			*to = word == "y" || word == "yes" || word == "on"
		default:
			d.fail(n, "must be true or false, not %s", n.kind)
		}
	}
}

// float returns a function that reads a percentage. Validate checks its range.
func (d *decoder) float(to *float32) func(n *node) {
	return func(n *node) {
		if n.kind == null {
			*to = 0
			return
		}
		value, err := strconv.ParseFloat(n.text, 32)
		if n.kind != number || err != nil {
			d.fail(n, "must be a number, not %s", n.describe())
			return
		}
		*to = float32(value)
	}
}

func (d *decoder) integer(to *int32) func(n *node) {
	return func(n *node) {
		if n.kind == null {
			*to = 0
			return
		}
		value, err := strconv.ParseInt(n.text, 10, 32)
		if n.kind != number || err != nil {
			d.fail(n, "must be a 32-bit integer, not %s", n.describe())
			return
		}
		*to = int32(value)
	}
}

// json returns a function that reads any value as JSON. An empty YAML value means none.
func (d *decoder) json(to *string) func(n *node) {
	return func(n *node) {
		if n.kind == null && n.raw == "" {
			*to = ""
			return
		}
		out, err := appendJSON(nil, n)
		if err != nil {
			d.fail(n, "%v", err)
		}
		*to = string(out)
	}
}

// enum returns a function that reads the name of a value. Without a name it is the first
// value (contract 13.2).
func (d *decoder) enum(to textValue) func(n *node) {
	return func(n *node) {
		var name string
		d.text(&name)(n)
		if err := to.UnmarshalText([]byte(name)); err != nil && name != "" {
			d.unknownValue(n, name, to)
		}
	}
}

// maxRaw is how much of a number an error quotes, in bytes.
const maxRaw = 100

func (n *node) describe() string {
	if n.kind == number {
		return guidon.Shorten(n.raw, maxRaw)
	}
	return n.kind.String()
}
