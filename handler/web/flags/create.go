package flags

import (
	"net/url"

	"github.com/guidonhq/guidon/handler/web/page"
)

// newFlagAddress returns the address of the page for a new flag with the name.
func newFlagAddress(v *page.Visit, name string) string {
	return v.In("new-flag") + "?" + url.Values{"name": {name}}.Encode()
}
