package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/web/page"
)

// signInPage is the model of the page with the ways to sign in.
type signInPage struct {
	ways
	ReturnTo string
	Onward   string // where the visitor is on the way to, for people; or ""
	Problem  string // why the token was not accepted, or ""
}

// signedInPage is the model of the page for visitors who are signed in.
type signedInPage struct {
	page.Visitor
	Onward string // where the visitor was on the way to, or ""
	Back   bool   // the visitor came from another tab, which still has a page
}

// showSignIn shows the sign-in methods, or the signed-in account. Visitors whose session ends soon may
// ask to sign in again.
func showSignIn(v *page.Visit) error {
	query := v.Query()
	returnTo := v.Site.ReturnTo(query.Get("return_to"))
	visitor, err := whoami(v)
	signedOut := page.IsSignedOut(err)
	switch {
	case err != nil && !signedOut:
		return err
	case err == nil && query.Get("again") == "":
		return reply(v, http.StatusOK, "Signed in", signedInPage{visitor, onward(v, returnTo), query.Get("back") != ""}.main(v.Site))
	}
	found, err := findWays(v, returnTo)
	if err != nil {
		return err
	}
	if signedOut {
		forgetSession(v)
	}
	return showForm(v, http.StatusOK, found, returnTo, "")
}

// forgetSession makes the browser forget the cookies of a session that is not valid. If
// there are several, they would be refused even after signing in.
func forgetSession(v *page.Visit) {
	if !v.Site.Session.In(v.Request.Header["Cookie"]) {
		return
	}
	for _, cookie := range v.Site.Session.Clear() {
		v.Header().Add("Set-Cookie", cookie)
	}
}

// showForm shows how to sign in. problem is why a token was not accepted, or "".
func showForm(v *page.Visit, status int, found ways, returnTo, problem string) error {
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		v.Header().Set("Retry-After", "1")
	}
	title := "Sign in"
	if problem != "" {
		title = "Error: Sign in"
	}
	return reply(v, status, title, signInPage{ways: found, ReturnTo: returnTo, Onward: onward(v, returnTo), Problem: problem}.main(v.Site))
}

// onward returns the path if the visitor is on the way to it, or "".
func onward(v *page.Visit, returnTo string) string {
	if path, _, _ := strings.Cut(returnTo, "?"); returnTo == v.Site.Home() || path == signInPath {
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
func signInWithToken(v *page.Visit, form url.Values) error {
	returnTo, token := v.Site.ReturnTo(form.Get("return_to")), strings.TrimSpace(form.Get("token"))
	found, err := findWays(v, returnTo)
	switch {
	case err != nil:
		return err
	case token == "":
		return showForm(v, http.StatusBadRequest, found, returnTo, problemMissing)
	}
	// This is the last operation, so that the log has its outcome.
	_, err = run(v, createSession, &emptypb.Empty{}, token)
	if err == nil {
		return v.Redirect(returnTo)
	}
	code := guidon.CodeOf(err)
	problem, ok := tokenProblems[code]
	if errors.Is(err, call.ErrLimited) {
		problem = problemScope
	}
	if !ok {
		return err
	}
	v.Event.Err = err
	return showForm(v, call.HTTPStatus(code), found, returnTo, problem)
}
