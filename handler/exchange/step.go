package exchange

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
)

// Step is the form of operations to which browsers are sent, such as the steps of signing
// in. It is [Messages], but a browser gets errors as pages, and nothing of the request is
// in the header Referer of later ones.
type Step struct {
	// Check returns an error unless the operation may have the query. The operation gets
	// it as Rejected, and must do nothing but fail with it.
	Check func(o *call.Operation, raw string, query url.Values) error
	// Page responds with the page of an error, whose reason is one word.
	Page func(x *Exchange, status int, reason string)
}

// Reasoned is an error with a word for the page that explains it.
type Reasoned interface {
	error
	Reason() string
}

// Serve implements [Form].
func (s Step) Serve(x *Exchange, o *call.Operation) {
	x.Header().Set("Referrer-Policy", "no-referrer")
	x.Header().Set("Cache-Control", "no-store")
	query, err := x.Query()
	if err != nil {
		x.ReplyError(err)
		return
	}
	if x.Call.Rejected = s.Check(o, x.Request.URL.RawQuery, query); x.Call.Rejected != nil {
		x.Request.URL.RawQuery = url.Values{"state": {query.Get("state")}}.Encode() // all that the operation needs
	}
	Messages.Serve(x, o)
}

// Error implements [Form].
func (s Step) Error(x *Exchange, err error) {
	if s.Page == nil || !wantsPage(x.Request) {
		Messages.Error(x, err)
		return
	}
	reason := ""
	if reasoned, ok := errors.AsType[Reasoned](err); ok {
		reason = reasoned.Reason()
	}
	s.Page(x, call.HTTPStatus(guidon.CodeOf(err)), reason)
}

// wantsPage reports whether the request is that of a browser.
func wantsPage(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Accept"], ",")), "text/html")
}
