package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// Visit is one request for a page, and its response. It is not safe for concurrent use.
type Visit struct {
	*exchange.Exchange
	Site        *Site
	Preferences Preferences
	Visitor     Visitor
	Namespace   *flipt.Namespace   // that of the path; nil for pages about no namespace
	Namespaces  []*flipt.Namespace // all that the visitor may see
	State       service.State      // of Namespace, when the visit began

	favorites func() ([]service.Favorite, error) // read once
	variables *chi.Context                       // of the path
	known     bool                               // the visitor is, with what may be seen
	query     url.Values
	form      url.Values
}

// credentials returns those of the browser's session. An Authorization header is ignored:
// what a proxy requires there is not for pages.
func (v *Visit) credentials() call.Credentials {
	return call.Credentials{Cookie: v.Request.Header["Cookie"]}
}

// sends reports whether the request is a form. Pages may be read from memory while the database
// does not answer, and say so; a form needs the current state.
func (v *Visit) sends() bool { return v.Request.Method == http.MethodPost }

// Away reports whether the page is from memory because the database does not answer. Pages
// then request nothing that is not in memory: that would only delay the error.
func (v *Visit) Away() bool { return v.State.Age > 0 }

// Now returns the time in the visitor's time zone.
func (v *Visit) Now() time.Time { return v.Site.Now().In(v.Location()) }

// Variable returns a variable of the path's pattern.
func (v *Visit) Variable(name string) string { return v.variables.URLParam(name) }

// Key returns the key of the namespace that the page is about, or "".
func (v *Visit) Key() string { return v.Namespace.GetKey() }

// Query returns the fields of the address. Malformed fields are left out.
func (v *Visit) Query() url.Values {
	if v.query == nil {
		v.query, _ = url.ParseQuery(v.Request.URL.RawQuery) // as net/http does
	}
	return v.query
}

// Form returns the fields of the form that was sent. It reads at most [MaxForm] bytes.
func (v *Visit) Form() (url.Values, error) {
	if v.form == nil {
		form, err := ReadForm(v.Exchange, MaxForm)
		if err != nil {
			return nil, err
		}
		v.form = form
	}
	return v.form, nil
}

// With returns the function for requests about what read reads, to which respond responds.
func With[T any](read func(v *Visit) (T, error), respond func(v *Visit, found T) error) func(v *Visit) error {
	return func(v *Visit) error {
		found, err := read(v)
		if err != nil {
			return err
		}
		return respond(v, found)
	}
}

// WithForm returns the function for requests with a form that fn is for.
func WithForm(fn func(v *Visit, form url.Values) error) func(v *Visit) error {
	return With((*Visit).Form, fn)
}

// May reports whether the visitor has the role in the namespace of the page.
func (v *Visit) May(role service.Role) bool { return v.MayIn(role, v.Key()) }

// MayIn reports whether the visitor has the role in a namespace, or [service.Everywhere].
func (v *Visit) MayIn(role service.Role, namespace string) bool {
	return v.Visitor.Authentication == nil || v.Visitor.Authentication.May(role, namespace)
}

// MayEdit reports whether the visitor may change flags and segments of the namespace.
func (v *Visit) MayEdit() bool { return !v.Site.ReadOnly && v.May(service.RoleEditor) }

// MayEditIn is [Visit.MayEdit] for the namespace with the key.
func (v *Visit) MayEditIn(key string) bool {
	return !v.Site.ReadOnly && v.MayIn(service.RoleEditor, key)
}

// Redirect makes the browser get a path below the public path (303). It returns nil.
func (v *Visit) Redirect(path string) error { return Redirect(v.Exchange, v.Site.Path(path)) }

// In returns the path of a page of the visit's namespace, such as
// In("flags", "checkout", "history"), for a browser.
func (v *Visit) In(segments ...string) string {
	return v.Site.Path(Below(append([]string{"namespaces", v.Key()}, segments...)...))
}

// At returns the name of the state of the visit's namespace at a revision.
func (v *Visit) At(revision int64) string { return v.Key() + "@" + Revision(revision) }

// To returns the path of a page, for a browser.
func (v *Visit) To(segments ...string) string { return v.Site.Path(Below(segments...)) }

// Below returns the path of the segments, which it escapes, below the public path.
func Below(segments ...string) string {
	path := ""
	for _, segment := range segments {
		path += "/" + url.PathEscape(segment)
	}
	return path
}

// here returns the address of the page below the public path.
func (v *Visit) here() string {
	if v.Request.URL.RawQuery == "" {
		return v.Request.URL.EscapedPath()
	}
	return v.Request.URL.EscapedPath() + "?" + v.Request.URL.RawQuery
}

// IsSignedOut reports whether err is that of a browser without a valid session. One beyond
// the limit of failures is not: it wraps such an error, but nothing was found out.
func IsSignedOut(err error) bool { return guidon.CodeOf(err) == guidon.Unauthenticated }

// Address returns the address of the service, as clients use it: server.public_url, or
// where the browser found it.
func (v *Visit) Address() string {
	if v.Site.PublicURL != "" {
		return strings.TrimSuffix(v.Site.PublicURL, "/")
	}
	u := url.URL{Scheme: "http", Host: v.Request.Host}
	if v.Request.TLS != nil || v.Request.Header.Get("X-Forwarded-Proto") == "https" { // only shown, never followed
		u.Scheme = "https"
	}
	return u.String() + v.Site.PublicPath
}
