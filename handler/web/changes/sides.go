package changes

import (
	"github.com/guidonhq/guidon/handler/web/page"
)

// fieldDiff is the field of the address with how diffs are shown, which is remembered.
const fieldDiff = "diff"

// readDiff returns how the visitor wants to see diffs.
func readDiff(v *page.Visit) page.DiffView {
	asked := page.DiffView(v.Query().Get(fieldDiff))
	if asked.Valid() && asked != v.Preferences.Diff {
		p := v.Preferences
		p.Diff = asked
		v.SetPreferences(p)
	}
	return v.Preferences.Diff
}

// diffAddress returns the address of the page with diffs in the view.
func diffAddress(v *page.Visit, view page.DiffView) string {
	address := *v.Request.URL
	query := v.Query()
	query.Set(fieldDiff, string(view))
	address.RawQuery = query.Encode()
	return v.Site.Path(address.RequestURI())
}

// sideRow is a row of a diff side by side: the lines of both sides, of which one may be nil.
// The first line of a hunk is on the left alone.
type sideRow struct{ Old, New *diffLine }

// Hunk reports whether the row is the first of a hunk.
func (r sideRow) Hunk() bool { return r.Old != nil && r.Old.Kind == lineHunk }

// Sides returns the lines side by side: those that are removed next to those that are added
// in their place.
func (d *diff) Sides() (rows []sideRow) {
	for i := 0; i < len(d.Lines); {
		removed := d.run(i, lineDel)
		added := d.run(i+removed, lineAdd)
		for n := range max(removed, added) {
			var row sideRow
			if n < removed {
				row.Old = &d.Lines[i+n]
			}
			if n < added {
				row.New = &d.Lines[i+removed+n]
			}
			rows = append(rows, row)
		}
		if i += removed + added; removed+added > 0 {
			continue
		}
		row := sideRow{Old: &d.Lines[i]}
		if d.Lines[i].Kind == lineSame {
			row.New = &d.Lines[i]
		}
		rows = append(rows, row)
		i++
	}
	return rows
}
