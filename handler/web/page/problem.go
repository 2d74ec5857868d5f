package page

import (
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/service"
)

// problem is the page about a request that failed.
type problem struct {
	Status    int
	Heading   string
	Text      string // what to do
	Detail    string // the error, or ""
	RequestID string
	Form      url.Values // the form that was not saved; nil for none
	SignIn    bool       // the session has ended
	Again     bool       // the same form may succeed later
	Compares  bool       // the page of the form can compare it with the stored state
}

// Error is an error with a page of its own words.
type Error struct {
	Heading, Text string
	Page          Page  // shown instead of the words, if it has a Main
	Err           error // decides about the status
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// problemWords are the heading and the text about errors, by status.
var problemWords = map[int][2]string{
	http.StatusBadRequest:            {"This request cannot be carried out", "Go back and change what it says below."},
	http.StatusUnauthorized:          {"Your session has ended", "Nothing was saved. Sign in, then send the form again: what you entered is kept on this page."},
	http.StatusForbidden:             {"You may not do this", "Ask an administrator for the role that is needed."},
	http.StatusNotFound:              {"There is no such page", "It may have been deleted, or the address has a typing error."},
	http.StatusMethodNotAllowed:      {"There is no such page", "This address does not take requests of this kind."},
	http.StatusConflict:              {"This was not saved", "Something else was saved meanwhile. Reload the page, and look at it again."},
	http.StatusPreconditionFailed:    {"This was not saved", "Something else was saved meanwhile. Reload the page, and look at it again."},
	http.StatusRequestEntityTooLarge: {"This form is too large", "Shorten what you entered."},
	http.StatusTooManyRequests:       {"Too many requests", "Wait a moment, then try again."},
	http.StatusNotImplemented: {"This needs a newer release of Guidon", "This release cannot read what is stored, and leaves it as it is. " +
		"Everything else works. An administrator finds the cause in the server’s log."},
	http.StatusServiceUnavailable: {"The server cannot answer now", "Try again in a moment."},
}

// Fail responds with a page about the error. A visitor without a session is sent to sign in
// or, if a form was sent, keeps what it had.
func (v *Visit) Fail(err error) {
	v.Event.Err = err
	status := StatusOf(err)
	header := v.Header()
	header.Del("ETag")
	header.Set("Cache-Control", "no-store")
	if status == http.StatusUnauthorized && v.Request.Method != http.MethodPost {
		_ = Redirect(v.Exchange, v.Site.SignInFor(v.Site.ReturnTo(v.here())))
		return
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		header.Set("Retry-After", "1")
	}
	words, ok := problemWords[status]
	if !ok {
		words = [2]string{
			"Something went wrong", "Try again. If that does not help, tell an administrator the request id: the server’s log says more.",
		}
	}
	p := problem{Status: status, Heading: words[0], Text: words[1], RequestID: v.Event.RequestID}
	own, isOwn := errors.AsType[*Error](err)
	if isOwn {
		if own.Page.Main != nil {
			_ = v.Reply(status, own.Page)
			return
		}
		p.Heading, p.Text = own.Heading, own.Text
	}
	if (status < http.StatusInternalServerError || status == http.StatusNotImplemented) &&
		status != http.StatusUnauthorized && status != http.StatusMethodNotAllowed && !errors.Is(err, exchange.ErrNoRoute) {
		p.Detail = guidon.PublicMessage(err)
	}
	if need := refusedRole.FindStringSubmatch(p.Detail); need != nil {
		p.Detail = ""
		if role, _ := service.ParseRole(need[1]); !isOwn {
			p.Text = "This " + v.needs(role, need[2]) + " Ask an administrator for it."
		}
	}
	v.keepForm(&p)
	if !v.known {
		v.Exchange.Reply(status, contentHTML, part.Render(v.Site.Bare(v.Preferences, p.Heading, v.problemMain(p))))
		return
	}
	_ = v.Reply(status, Page{Title: p.Heading, Main: v.problemMain(p)})
}

// refusedRole matches the text of [service.Refusal].
var refusedRole = regexp.MustCompile(`^permission denied: needs (\w+) on namespace "(.*)"$`)

// needs says that the role in the namespace is needed.
func (v *Visit) needs(role service.Role, namespace string) string {
	where := "in " + Printable(namespace, maxSentence)
	if n := v.NamespaceWith(namespace); n != nil {
		where = "in " + NamespaceName(n)
	}
	if namespace == service.Everywhere {
		where = "in all namespaces"
	}
	return "needs the role " + RoleLabel(role) + " " + where + "; you have " + RoleLabel(v.RoleIn(namespace)) + "."
}

// keepForm keeps the form that was sent on the page, if sending it again may succeed.
func (v *Visit) keepForm(p *problem) {
	if v.Request.Method != http.MethodPost || p.Status != http.StatusUnauthorized && p.Status != http.StatusServiceUnavailable {
		return
	}
	form, err := v.Form()
	if err != nil {
		return
	}
	p.Form, p.SignIn, p.Again = form, p.Status == http.StatusUnauthorized, true
	if p.Status == http.StatusServiceUnavailable {
		p.Compares = form.Has("revision") && form.Has("do")
		p.Heading, p.Text = "It is not known whether this was saved", "The database did not answer in time. Look at the current state first; what you entered is kept on this page."
	}
}

// look is the action of a button that every form with a draft has: it shows the draft next
// to the stored state, and changes nothing.
const look = "look"

// fields returns the fields of the form as pairs, by name, without the one of its button.
func (p problem) fields() (pairs [][2]string) {
	names := make([]string, 0, len(p.Form))
	for name := range p.Form {
		if name != "do" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range p.Form[name] {
			pairs = append(pairs, [2]string{name, value})
		}
	}
	return pairs
}

// StatusOf returns the status of the page about an error.
func StatusOf(err error) int {
	status := call.HTTPStatus(guidon.CodeOf(err))
	switch {
	case errors.Is(err, exchange.ErrNoMethod):
		return http.StatusMethodNotAllowed
	case status == http.StatusNotImplemented && !guidon.IsUnreadable(err): // an operation that is disabled
		return http.StatusNotFound
	}
	return status
}
