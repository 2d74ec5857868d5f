package segment

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// rowsOnPage is how many segments a page lists.
const rowsOnPage = 50

// column is an order of the list.
type column struct {
	Name    string // in the address
	Label   string
	Sort    guidonv1.SegmentSort
	Falling bool // the largest come first when the order is chosen
}

var columns = []column{
	{"name", "Segment", guidonv1.SegmentSort_NAME_SEGMENT_SORT, false},
	{"used", "Used by", guidonv1.SegmentSort_USED_SEGMENT_SORT, true},
	{"changed", "Changed", guidonv1.SegmentSort_CHANGED_SEGMENT_SORT, true},
}

// list is the model of the page.
type list struct {
	*page.Visit
	Query      string
	Sort       string // as in the address
	column     column
	Descending bool
	Number     int // of the page, from 1
	Result     *guidonv1.SegmentSummaryList
	Changes    map[string]*guidonv1.Change
	Similar    []page.Similar
}

// showList shows the segments of the namespace.
func showList(v *page.Visit) error {
	exists := func(key string) bool {
		_, err := page.GetSegmentContent.Run(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: v.Key(), Key: key})
		return err == nil
	}
	if v.Opens(page.PlaceSegments, exists) {
		return nil
	}
	l := &list{Visit: v, Query: v.Query().Get("q"), Sort: v.Query().Get("sort"), Number: page.PageOf(v.Query())}
	l.order()
	if err := l.read(); err != nil {
		return err
	}
	return v.Reply(http.StatusOK, page.Page{
		Title: "Segments", Place: page.PlaceSegments, Crumbs: []page.Crumb{{Text: "Segments"}}, Modules: []string{"list.js"},
		Main: l.main(), Regions: map[string]templ.Component{"list": l.rows()}, Live: true,
	})
}

// order sets the order that the address names, or else that by name.
func (l *list) order() {
	name, reversed := strings.CutPrefix(l.Sort, "-")
	for _, c := range columns {
		if c.Name == name {
			l.column, l.Descending = c, c.Falling != reversed
			return
		}
	}
	l.Sort, l.column = "", columns[0]
}

func (l *list) read() (err error) {
	l.Result, err = page.ListSegmentSummaries.Run(l.Visit, &guidonv1.ListSegmentSummariesRequest{
		NamespaceKey: l.Key(), Query: l.Query, Sort: l.column.Sort, Descending: l.Descending,
		Offset: int32((l.Number - 1) * rowsOnPage), Limit: rowsOnPage, // #nosec G115 -- the number has a limit
	})
	if err != nil {
		return err
	}
	if l.Result.GetTotalCount() == 0 && l.Query != "" {
		if l.Similar, err = similar(l.Visit, l.Query); err != nil {
			return err
		}
	}
	keys := lists.Map(l.Result.GetSegments(), (*guidonv1.SegmentSummary).GetKey)
	l.Changes, err = page.NewestChanges(l.Visit, kindSegment, keys...)
	return err
}

// address returns the address of the list with another order or page, for a browser.
func (l *list) address(sort string, number int) string {
	return l.In("segments") + page.Query("q", l.Query, "sort", sort, page.FieldPage, page.PageField(number))
}

// sorted returns the address of the list in the order of a column, which is reversed if it has
// that order already.
func (l *list) sorted(c column) string {
	if c.Name == l.column.Name && !strings.HasPrefix(l.Sort, "-") {
		return l.address("-"+c.Name, 1)
	}
	return l.address(c.Name, 1)
}

// direction returns the value of aria-sort of a column, or "".
func (l *list) direction(c column) string {
	switch {
	case c.Name != l.column.Name:
		return ""
	case l.Descending:
		return "descending"
	}
	return "ascending"
}

// first and last return the numbers of the rows on the page, from 1.
func (l *list) first() int { return (l.Number-1)*rowsOnPage + 1 }
func (l *list) last() int  { return l.first() + len(l.Result.GetSegments()) - 1 }
