package web

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// commandLinePage is the model of the page that asks whether the command line may sign in.
type commandLinePage struct {
	grantRequest
	Visitor page.Visitor
}

// errGrantRequest is the error for a request that no command line has made.
var errGrantRequest = guidon.Errorf(guidon.InvalidArgument, "invalid request of a command line to sign in")

// askForGrant asks whether the command line may sign in as the visitor.
func askForGrant(v *page.Visit) error {
	fields, err := url.ParseQuery(v.Request.URL.RawQuery)
	request, ok := parseGrantRequest(fields)
	if err != nil || !ok {
		return errGrantRequest
	}
	visitor, err := whoami(v)
	switch {
	case err == nil:
		if request.Port != "" {
			page.AllowFormTo(v.Exchange, request.origin()) // by the redirect
		}
		return reply(v, http.StatusOK, "Allow the command line", commandLinePage{request, visitor}.main(v.Site))
	case page.IsSignedOut(err):
		return page.Redirect(v.Exchange, v.Site.SignInFor(request.page()))
	}
	return err
}

// The decisions of the form.
const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
)

// decideOnGrant allows the command line to sign in as the visitor, or denies it.
func decideOnGrant(v *page.Visit, form url.Values) error {
	request, ok := parseGrantRequest(form)
	decision := form.Get("decision")
	switch {
	case !ok || decision != decisionAllow && decision != decisionDeny:
		return errGrantRequest
	case decision == decisionAllow:
		return allowGrant(v, request)
	case request.Port != "":
		return page.Redirect(v.Exchange, request.callback(url.Values{"error": {"access_denied"}}))
	}
	return reply(v, http.StatusOK, "Denied", deniedMain())
}

// allowGrant creates the grant, and takes its code to the command line or shows it.
func allowGrant(v *page.Visit, request grantRequest) error {
	response, err := run(v, createGrant, &guidonv1.CreateGrantRequest{CodeChallenge: request.Challenge, Name: request.Name}, "")
	switch {
	case page.IsSignedOut(err): // the session has ended in the meantime
		v.Event.Err = err
		return page.Redirect(v.Exchange, v.Site.SignInFor(request.page()))
	case err != nil:
		return err
	}
	code := response.Message.(*guidonv1.CreateGrantResponse).GetCode()
	if request.Port == "" {
		return reply(v, http.StatusOK, "Code for the command line", codeMain(code, request.Name))
	}
	return page.Redirect(v.Exchange, request.callback(url.Values{"code": {code}}))
}
