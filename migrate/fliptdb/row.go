package fliptdb

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxKeyLength is the longest key that the databases can index, in characters
// (contract 4.1).
const maxKeyLength = 255

// row is one row of a table.
type row struct {
	name    string // such as `rules 6b8a…`
	problem string // why it cannot be read, but for its times, or ""
	columns []column
}

func newRow(name string, columns []column) row {
	var problems []string
	for _, c := range columns {
		if c.err != nil && !c.isStamp() {
			problems = append(problems, c.problem())
		}
	}
	return row{name: name, problem: strings.Join(problems, "; "), columns: columns}
}

// has reports whether the columns with these names could be read.
func (x row) has(names ...string) bool {
	return !slices.ContainsFunc(x.columns, func(c column) bool { return c.err != nil && slices.Contains(names, c.name) })
}

// checkKey returns why the row of an object with the key cannot be used, or "".
func (x row) checkKey(key string) string {
	if x.problem != "" {
		return x.problem
	}
	return problemOf(key)
}

// problemOf returns why a key or id cannot be stored, or "".
func problemOf(key string) string {
	switch {
	case key == "":
		return "its key is empty"
	case utf8.RuneCountInString(key) > maxKeyLength:
		return fmt.Sprintf("its key is longer than %d characters", maxKeyLength)
	}
	return ""
}
