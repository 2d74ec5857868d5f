package page

import (
	"net/http"
	"strings"

	"github.com/guidonhq/guidon/handler/exchange"
)

// contentPolicy lets a page use nothing of other origins, run no inline scripts or styles,
// and be in no frame.
var contentPolicy = strings.Join([]string{
	"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
	formPolicy, "base-uri 'none'", "frame-ancestors 'none'",
	"require-trusted-types-for 'script'", "trusted-types 'none'",
}, "; ")

// formPolicy is where forms may be sent to. It also holds for the redirects that follow.
const formPolicy = "form-action 'self'"

// Protect sets the headers that every page has. Nothing of a page is kept by a cache.
//
// The referrer policy is not "no-referrer", with which browsers send "Origin: null" with
// forms. Over plain HTTP, where they do not send Sec-Fetch-Site, such forms would be refused
// as those of another origin.
func Protect(x *exchange.Exchange) {
	header := x.Header()
	header.Set("Content-Security-Policy", contentPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Permissions-Policy", "clipboard-write=(self), camera=(), microphone=(), geolocation=()")
	header.Set("Cache-Control", "no-store")
}

// AllowFormTo allows the forms of the page to be sent to another origin as well.
func AllowFormTo(x *exchange.Exchange, origin string) {
	x.Header().Set("Content-Security-Policy", strings.Replace(contentPolicy, formPolicy, formPolicy+" "+origin, 1))
}

// Redirect makes the browser get another address. It returns nil.
func Redirect(x *exchange.Exchange, location string) error {
	x.Header().Set("Location", location)
	x.WriteHeader(http.StatusSeeOther)
	return nil
}
