package review

// sideRow is a row of a diff side by side: the lines of both sides, of which one may be nil.
// The first line of a hunk is on the left alone.
type sideRow struct{ Old, New *diffLine }

// Hunk reports whether the row is the first of a hunk.
func (r sideRow) Hunk() bool { return r.Old != nil && r.Old.Kind == lineHunk }

// Sides returns the lines side by side: those that are removed next to those that are added
// in their place.
func (d *Diff) Sides() (rows []sideRow) {
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
