package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
)

// signInPage is the model of the page with the ways to sign in.
type signInPage struct {
	ways
	ReturnTo string
	Onward   string // where the visitor is on the way to, for people; or ""
	Problem  string // why the token was not accepted, or ""
}

func (p signInPage) title() string {
	if p.Problem != "" {
		return "Error: Sign in"
	}
	return "Sign in"
}

// signedInPage is the model of the page for visitors who are signed in.
type signedInPage struct {
	page.Visitor
	Onward string // where the visitor was on the way to, or ""
	Back   bool   // the visitor came from another tab, which still has a page
}

func (signedInPage) title() string { return "Signed in" }

// openPage is the page of a server that requires no credentials.
type openPage struct{}

func (openPage) title() string { return "No sign-in needed" }

// showSignIn shows the sign-in methods, or the signed-in account. Visitors whose session ends soon may
// ask to sign in again.
func (p *pages) showSignIn(x *exchange.Exchange) error {
	query := x.Request.URL.Query()
	returnTo := p.ReturnTo(query.Get("return_to"))
	visitor, err := p.whoami(x)
	signedOut := page.IsSignedOut(err)
	switch {
	case err != nil && !signedOut:
		return err
	case err == nil && query.Get("again") == "":
		return p.reply(x, http.StatusOK, signedInPage{visitor, p.onward(returnTo), query.Get("back") != ""})
	}
	found, err := p.findWays(x, returnTo)
	if err != nil {
		return err
	}
	if signedOut {
		p.forgetSession(x)
	}
	return p.showForm(x, http.StatusOK, found, returnTo, "")
}

// forgetSession makes the browser forget the cookies of a session that is not valid. If
// there are several, they would be refused even after signing in.
func (p *pages) forgetSession(x *exchange.Exchange) {
	if !p.Session.In(x.Request.Header["Cookie"]) {
		return
	}
	for _, cookie := range p.Session.Clear() {
		x.Header().Add("Set-Cookie", cookie)
	}
}

// showForm shows how to sign in. problem is why a token was not accepted, or "".
func (p *pages) showForm(x *exchange.Exchange, status int, found ways, returnTo, problem string) error {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		x.Header().Set("Retry-After", "1")
	}
	return p.reply(x, status, signInPage{ways: found, ReturnTo: returnTo, Onward: p.onward(returnTo), Problem: problem})
}

// onward returns the path if the visitor is on the way to it, or "".
func (p *pages) onward(returnTo string) string {
	if path, _, _ := strings.Cut(returnTo, "?"); returnTo == p.Home() || path == signInPath {
		return ""
	}
	return returnTo
}

// The texts about tokens that are not accepted.
const (
	problemMissing = "Enter a token."
	problemUnknown = "This token is unknown or has expired. Check that all of it was copied, or ask for another one."
	problemRights  = "This token may not read any namespace, so there is nothing to see with it. Use another one."
	problemScope   = "This token is limited to one namespace, so it is for programs only. Use one without that limit, such as one with a role in that namespace."
	problemKind    = "Only a static token can be used here."
	problemLimited = "Too many tokens were wrong. Wait a moment, then try again."
	problemAway    = "The server cannot check tokens now. Try again in a moment."
)

// tokenProblems are the texts for the errors of beginning a session.
var tokenProblems = map[guidon.Code]string{
	guidon.InvalidArgument: problemKind, guidon.Unauthenticated: problemUnknown, guidon.PermissionDenied: problemRights,
	guidon.Limited: problemLimited, guidon.Unavailable: problemAway,
}

// signInWithToken begins a session of the token in the form. The session that the browser
// has is left alone unless that succeeds.
func (p *pages) signInWithToken(x *exchange.Exchange, form url.Values) error {
	returnTo, token := p.ReturnTo(form.Get("return_to")), strings.TrimSpace(form.Get("token"))
	found, err := p.findWays(x, returnTo)
	switch {
	case err != nil:
		return err
	case token == "":
		return p.showForm(x, http.StatusBadRequest, found, returnTo, problemMissing)
	}
	// This is the last operation, so that the log has its outcome.
	_, err = p.run(x, createSession, &call.Request{Message: &emptypb.Empty{}}, token)
	if err == nil {
		return page.Redirect(x, p.Path(returnTo))
	}
	code := guidon.CodeOf(err)
	problem, ok := tokenProblems[code]
	if errors.Is(err, call.ErrLimited) {
		problem = problemScope
	}
	if !ok {
		return err
	}
	x.Event.Err = err
	return p.showForm(x, call.HTTPStatus(code), found, returnTo, problem)
}
