package page

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/part"
)

// Page is the content of a page. Its markup is in .templ files beside the code that shows it.
//
// Pages are not made with html/template: a program that can execute a template contains
// every exported method of all its types, which makes the AWS Lambda function 40 % larger.
type Page struct {
	Title   string  // such as "Checkout redesign"; the rest of the title is added
	Place   Place   // the place that the navigation marks as current
	Crumbs  []Crumb // the way to the page, from the namespace on; the last one is the page
	Main    templ.Component
	Modules []string // assets that the page uses besides app.js, such as "list.js"
	// Regions are parts of Main by the name in the header Guidon-Fragment: a request with it
	// gets only that part.
	Regions map[string]templ.Component
	// Object is the object that the page is about, such as "flag/checkout", or "".
	Object string
	// Live is set for pages that follow the changes of their namespace as they happen.
	Live bool

	found bool // it is what its address is for, and not an answer to a form
}

// Crumb is a step of the way to a page. The last one has no address.
type Crumb struct{ Text, Address string }

// fragmentHeader is the header of a request for one region of a page.
const fragmentHeader = "Guidon-Fragment"

// contentHTML is the content type of pages.
const contentHTML = "text/html; charset=utf-8"

// Reply responds with the page. It returns nil, as whatever serves a request does after its answer.
func (v *Visit) Reply(status int, p Page) error {
	v.Header().Add("Vary", fragmentHeader)
	var content templ.Component
	if region := p.Regions[exchange.First(v.Request.Header, fragmentHeader)]; region != nil {
		content = region
	} else {
		v.remember()
		p.found = status == http.StatusOK && v.Request.Method != http.MethodPost
		content = v.frame(p)
	}
	v.Exchange.Reply(status, contentHTML, part.Render(content))
	return nil
}

// remember makes the browser remember the namespace.
func (v *Visit) remember() {
	if key := v.Key(); key != "" && key != v.Preferences.Namespace && v.Request.Method != http.MethodPost {
		p := v.Preferences
		p.Namespace = key
		v.SetPreferences(p)
	}
}

// ages is how long the words of times, such as "5 minutes ago", may be out of date.
const ages = 5 * time.Minute

// notModified responds with 304 if the browser has the page as it is. Otherwise it makes
// the response one that the browser may keep and ask about.
func (v *Visit) notModified() bool {
	digest := sha256.New()
	favorites, err := v.Favorites() // after an error, pages have no stars
	for _, part := range []any{
		Build(), v.Site.Version, v.Site.Interface, v.Site.ReadOnly, v.Site.PublicPath, v.State.Revision, v.State.Stamp, v.State.Epoch,
		v.Preferences, v.here(), exchange.First(v.Request.Header, fragmentHeader),
		v.Site.Now().Truncate(ages).Unix(), v.State.Age > 0, v.Visitor.Name, favorites, err,
	} {
		fmt.Fprintf(digest, "%v\x00", part)
	}
	if a := v.Visitor.Authentication; a != nil {
		fmt.Fprintf(digest, "%s\x00%v\x00", a.ID, a.Grants())
	}
	for _, n := range v.Namespaces {
		fmt.Fprintf(digest, "%s\x00%s\x00%v\x00", n.GetKey(), n.GetName(), n.GetUpdatedAt().AsTime())
	}
	tag := hex.EncodeToString(digest.Sum(nil)[:12])
	header := v.Header()
	header.Set("ETag", `"`+tag+`"`)
	header.Set("Cache-Control", "private, no-cache")
	if !call.MatchesETag(exchange.First(v.Request.Header, "If-None-Match"), tag) {
		return false
	}
	header.Add("Vary", fragmentHeader)
	v.WriteHeader(http.StatusNotModified)
	return true
}
