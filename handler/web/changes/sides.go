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
