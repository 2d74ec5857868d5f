package page_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/page"
)

// TestWritten: members as people write them, and the metadata that they enter, are the same.
func TestWritten(t *testing.T) {
	const object = `{"owner":"team-a","limit":12,"text":"12","list":[1,2],"empty":"","on":true,"quoted":"\"a\"","lines":"a\nb","nothing":null}`
	var rows []page.MetadataRow
	for _, m := range page.Members(object) {
		rows = append(rows, page.MetadataRow{Key: m.Key, Value: m.Written()})
	}
	want := []page.MetadataRow{
		{"owner", "team-a"}, {"limit", "12"}, {"text", `"12"`}, {"list", "[1,2]"}, {"empty", `""`}, {"on", "true"},
		{"quoted", `"\"a\""`}, {"lines", `"a\nb"`}, {"nothing", "null"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	got := page.MetadataObject(rows, func(row int, message string) { t.Errorf("row %d: %s", row, message) })
	if got != object {
		t.Errorf("got %s, want %s", got, object)
	}
	for _, text := range []string{"", "[1]", "7", "x"} {
		if members := page.Members(text); members != nil {
			t.Errorf("%q has %v", text, members)
		}
	}
}

// inQuotes ends each message about a value that looks like JSON.
const inQuotes = " For plain text, put it in double quotes."

// TestProblems: what cannot be a member is said, and where.
func TestProblems(t *testing.T) {
	for _, test := range []struct {
		name string
		rows []page.MetadataRow
		want map[int]string
	}{
		{"nothing", nil, nil},
		{"empty rows", []page.MetadataRow{{}, {"", " "}}, nil},
		{"no key", []page.MetadataRow{{"a", "1"}, {"", "x"}}, map[int]string{1: "A key is needed."}},
		{"twice", []page.MetadataRow{{"a", "1"}, {"a", "2"}}, map[int]string{1: "The key a is there twice."}},
		{"a list without its end", []page.MetadataRow{{"a", "[10, 20"}}, map[int]string{0: "Line 1, column 8: This list never ends: add ]." + inQuotes}},
		{"an object without its end", []page.MetadataRow{{"a", `{"b":[1`}}, map[int]string{0: "Line 1, column 8: This list never ends: add ]}." + inQuotes}},
		{"a text without its end", []page.MetadataRow{{"a", `"b`}}, map[int]string{0: `Line 1, column 3: This text never ends: add ".` + inQuotes}},
		{"a comma too many", []page.MetadataRow{{"a", "[1,\n2,,3]"}}, map[int]string{0: "Line 2, column 3: This is not JSON: “,” cannot stand here." + inQuotes}},
		{"nothing after a colon", []page.MetadataRow{{"a", `{"b":`}}, map[int]string{0: "Line 1, column 6: This is not JSON: the end cannot stand here." + inQuotes}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got map[int]string
			page.MetadataObject(test.rows, func(row int, message string) {
				if got == nil {
					got = make(map[int]string)
				}
				got[row] = message
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
