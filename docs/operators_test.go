package docs_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
)

// operatorColumns are the columns of the tables of operators.
var operatorColumns = func() map[string]guidon.ComparisonType {
	columns := map[string]guidon.ComparisonType{"entity id": guidon.EntityIDComparison}
	for _, t := range guidon.ComparisonTypes() {
		columns[t.Name()] = t
	}
	return columns
}()

// operatorTable returns the types with a mark for each operator in the table of the page.
func operatorTable(t *testing.T, page string) map[string][]guidon.ComparisonType {
	t.Helper()
	_, table, found := strings.Cut(read(t, page), "\n| Operator |")
	if !found {
		t.Fatalf("%s has no table of operators", page)
	}
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	head := strings.Split(lines[0], "|")
	types := map[string][]guidon.ComparisonType{}
	for _, line := range lines[2:] {
		cells := strings.Split(strings.Trim(line, "| "), "|")
		for name := range strings.SplitSeq(strings.ReplaceAll(cells[0], "`", ""), ",") {
			name = strings.TrimSpace(name)
			types[name] = nil
			for i, cell := range cells[1:] {
				if kind, isType := operatorColumns[strings.TrimSpace(head[i])]; isType && strings.TrimSpace(cell) != "" {
					types[name] = append(types[name], kind)
				}
			}
		}
	}
	return types
}

// TestOperators compares the tables of operators with the operators: each has a row, with a
// mark for the types that have it.
func TestOperators(t *testing.T) {
	want := map[string][]guidon.ComparisonType{}
	for _, o := range guidon.Operators() {
		want[o.Name] = o.Types
	}
	if diff := cmp.Diff(want, operatorTable(t, "contract/wire.md")); diff != "" {
		t.Errorf("contract 4.3 (-want +got):\n%s", diff)
	}
	for _, o := range guidon.Operators() {
		if o.Takes == guidon.ListOfItems { // the page for people leaves out lists of dates, which never match
			isDate := func(kind guidon.ComparisonType) bool { return kind == guidon.DateTimeComparison }
			want[o.Name] = slices.DeleteFunc(slices.Clone(o.Types), isDate)
		}
	}
	if diff := cmp.Diff(want, operatorTable(t, "segments.md")); diff != "" {
		t.Errorf("segments.md (-want +got):\n%s", diff)
	}
}

// TestOperatorDescriptions: the descriptions of operators in the API list all of them.
func TestOperatorDescriptions(t *testing.T) {
	var names []string
	for _, o := range guidon.Operators() {
		names = append(names, o.Name)
	}
	last := len(names) - 1
	list := fmt.Sprintf("%s or %s", strings.Join(names[:last], ", "), names[last])
	described := regexp.MustCompile(`: (eq, [a-z, ]+)\.`).FindAllStringSubmatch(read(t, "../handler/openapi.yaml"), -1)
	if len(described) == 0 {
		t.Error("openapi.yaml describes no operators")
	}
	for _, d := range described {
		if d[1] != list {
			t.Errorf("openapi.yaml lists the operators\n%s\nwant\n%s; they are in the comments of the .proto files", d[1], list)
		}
	}
}
