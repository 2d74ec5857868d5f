package web

import (
	"net/http"

	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
)

// words are the heading and text of an error page.
type words struct{ Heading, Text string }

// reasonWords are the words for each reason why a sign-in has failed.
var reasonWords = map[string]words{
	"state": {"This sign-in cannot be completed",
		"It took too long, was completed before, or began in another browser. Begin again."},
	"denied": {"You are not signed in",
		"The provider did not complete the sign-in, or it was canceled there. Begin again, or choose another way to sign in."},
	"invalid": {"You are not signed in",
		"The provider did not confirm who you are. Begin again. If that does not help, tell an administrator the request id."},
	"not_admitted": {"You have no access to this server",
		"The provider confirmed who you are, but you were not given access here. Ask an administrator, and tell them the request id."},
	"misconfigured": {"This way to sign in is not set up correctly",
		"The provider does not accept this server. Tell an administrator the request id: the server’s log says more."},
	"limited": {"Too many failed attempts",
		"Wait a moment, then try again."},
	"unavailable": {"The provider cannot be reached",
		"Reload this page in a moment, or choose another way to sign in."},
}

// statusWords are the words for errors without a reason.
var statusWords = map[int]words{
	http.StatusBadRequest: {"This request is not complete",
		"The address or the form has a part that is missing, too long or changed."},
	http.StatusUnauthorized: {"You are not signed in",
		"Sign in, then try again."},
	http.StatusForbidden: {"This request was refused",
		"It came from a page of another site, needs more rights than you have, or used an address that this server does not answer to."},
	http.StatusNotFound: {"There is no such page",
		"The address may have a typing error, or the page is not part of this server."},
	http.StatusMethodNotAllowed: {"There is no such page",
		"This address does not take requests of this kind."},
	http.StatusRequestEntityTooLarge: {"This form is too large",
		"No form on these pages needs that much. Check what you have pasted."},
	http.StatusTooManyRequests: {"Too many failed attempts",
		"Wait a moment, then try again."},
	http.StatusServiceUnavailable: {"The server cannot answer now",
		"Try again in a moment."},
}

// otherWords are the words for all other errors.
var otherWords = words{"Something went wrong",
	"Try again. If that does not help, tell an administrator the request id: the server’s log says more."}

// errorPage is the model of the page with an error.
type errorPage struct {
	words
	Lost      bool // there is nothing at the address
	RequestID string
}

// ErrorPage responds with a page about an error, for people: what happened, the id of the
// request, and a link to the sign-in page, to begin again. reason is one of sign-ins that
// have failed, or "". The page repeats nothing that a client or provider has sent. It is for
// any exchange, also those of operations.
func (s *Site) ErrorPage(x *exchange.Exchange, status int, reason string) {
	s.showError(x, status, reason, false)
}

// showError is ErrorPage, but links to the start page if there is nothing at the address.
func (s *Site) showError(x *exchange.Exchange, status int, reason string, lost bool) {
	page.Protect(x)
	// The address may contain the code of a sign-in. There are no forms.
	x.Header().Set("Referrer-Policy", "no-referrer")
	said, ok := reasonWords[reason]
	if !ok {
		said, ok = statusWords[status]
	}
	if !ok {
		said = otherWords
	}
	site := s.For(x.Request)
	replyBare(x, site, status, said.Heading, errorPage{said, lost, x.Event.RequestID}.main(site))
}

// replyError is the form of the errors of a mount.
func (s *Site) replyError(x *exchange.Exchange, err error) {
	status := page.StatusOf(err)
	s.showError(x, status, "", status == http.StatusNotFound || status == http.StatusMethodNotAllowed)
}
