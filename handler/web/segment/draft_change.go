package segment

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// changes returns how many parts of the segment differ from the saved one: its name, its
// description, how its constraints combine, each constraint, and their order.
func (d *draft) changes(saved *guidonv1.DocumentSegment) int {
	is := d.document()
	n := 0
	for _, differs := range []bool{
		is.GetName() != saved.GetName(), is.GetDescription() != saved.GetDescription(), is.GetMatchType() != saved.GetMatchType(),
	} {
		if differs {
			n++
		}
	}
	kept := make(map[int]bool, len(d.Constraints))
	last, moved := -1, false
	for i := range d.Constraints {
		from := d.Constraints[i].From
		if from < 0 || kept[from] || from >= len(saved.GetConstraints()) {
			n++
			continue
		}
		kept[from] = true
		moved = moved || from < last
		last = max(last, from)
		if !proto.Equal(is.GetConstraints()[i], saved.GetConstraints()[from]) {
			n++
		}
	}
	if moved {
		n++
	}
	return n + len(saved.GetConstraints()) - len(kept)
}

// differs reports whether saving the draft would change the segment.
func (d *draft) differs(saved *guidonv1.DocumentSegment) bool {
	is := d.document()
	is.Key = saved.GetKey()
	return !proto.Equal(is, saved)
}

// edited reports whether the constraint with the index differs from the saved one.
func (d *draft) edited(i int, saved *guidonv1.DocumentSegment) bool {
	c := &d.Constraints[i]
	return c.From < 0 || c.From >= len(saved.GetConstraints()) || !proto.Equal(c.document(), saved.GetConstraints()[c.From])
}

// insert inserts a constraint at the index.
func (d *draft) insert(i int, c constraint) { d.Constraints = slices.Insert(d.Constraints, i, c) }
