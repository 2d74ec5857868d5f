package cli

import (
	"bufio"
	"fmt"
)

// Tree prints lines with branches in front.
type Tree struct {
	Out    *bufio.Writer
	indent string
}

// Branch prints a line, and lets below print those that belong to it.
func (t *Tree) Branch(last bool, line string, below func(t *Tree)) {
	mark, indent := "├─ ", "│  "
	if last {
		mark, indent = "└─ ", "   "
	}
	fmt.Fprintf(t.Out, "%s%s%s\n", t.indent, mark, line)
	if below != nil {
		below(&Tree{t.Out, t.indent + indent})
	}
}

// Mark returns a check mark for a match, and otherwise a cross.
func Mark(matched bool) string {
	if matched {
		return "✓"
	}
	return "✗"
}
