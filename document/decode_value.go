package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	linter   *linter // gets all problems, also after an error; or nil
}

// spot is a line and a column, from 1; 0 if unknown.
type spot struct{ line, column int }

func (n *node) spot() spot { return spot{n.line, n.column} }

// spot returns that of the name.
func (m member) spot() spot { return spot{int(m.line), int(m.column)} }

func (d *decoder) fail(n *node, format string, args ...any) {
	d.failAt(n.spot(), guidon.Errorf(guidon.InvalidArgument, format, args...).Error())
}

func (d *decoder) failAt(s spot, text string) {
	if d.linter != nil {
		d.linter.found(s, d.path, text, false)
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

// forgive tells the linter of input that is accepted although it is probably a mistake.
func (d *decoder) forgive(s spot, text string) {
	if d.linter != nil {
		d.linter.found(s, d.path, text, true)
	}
}

// at calls read with the location appended to the path.
func (d *decoder) at(location string, read func()) {
	d.path = append(d.path, location)
	read()
	d.path = d.path[:len(d.path)-1]
}

func (d *decoder) object(n *node, known []field) {
	if n.kind != object {
		d.fail(n, "must be an object, not %s", n.kind)
		return
	}
	for _, m := range n.members {
		i := slices.IndexFunc(known, func(f field) bool { return f.name == m.name })
		if i < 0 {
			d.unknownMember(m, known)
			continue
		}
		d.at(m.name, func() { known[i].read(d, m.value) })
	}
	for _, m := range n.repeated {
		d.forgive(m.spot(), fmt.Sprintf("duplicate member %s: the last one counts", guidon.Quote(m.name)))
	}
}

// list reads a list by calling each for its items. Null is an empty list.
func (d *decoder) list(n *node, each func(n *node)) {
	if n.kind == null {
		return
	}
	if n.kind != list {
		d.fail(n, "must be a list, not %s", n.kind)
		return
	}
	name, index := d.path[len(d.path)-1], 0
	err := n.each(func(item *node) error {
		d.item(name, index, item, each)
		index++
		return d.err
	})
	d.err = cmp.Or(d.err, err)
	d.path[len(d.path)-1] = name
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
