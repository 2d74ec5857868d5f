package web

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// commandLinePage is the model of the page that asks whether the command line may sign in.
type commandLinePage struct {
	grantRequest
	Visitor page.Visitor
}

func (commandLinePage) title() string { return "Allow the command line" }

// codePage is the model of the page with the code for pasting.
type codePage struct{ Code, Machine string }

func (codePage) title() string { return "Code for the command line" }

// deniedPage is the page after the visitor has denied it.
type deniedPage struct{}

func (deniedPage) title() string { return "Denied" }

// errGrantRequest is the error for a request that no command line has made.
var errGrantRequest = guidon.Errorf(guidon.InvalidArgument, "invalid request of a command line to sign in")

// askForGrant asks whether the command line may sign in as the visitor.
func (p *pages) askForGrant(x *exchange.Exchange) error {
	fields, err := url.ParseQuery(x.Request.URL.RawQuery)
	request, ok := parseGrantRequest(fields)
	if err != nil || !ok {
		return errGrantRequest
	}
	visitor, err := p.whoami(x)
	switch {
	case err == nil:
		if request.Port != "" {
			page.AllowFormTo(x, request.origin()) // by the redirect
		}
		return p.reply(x, http.StatusOK, commandLinePage{request, visitor})
	case page.IsSignedOut(err):
		return page.Redirect(x, p.SignInFor(request.page()))
	}
	return err
}

// The decisions of the form.
const (
	decisionAllow = "allow"
	decisionDeny  = "deny"
)

// decideOnGrant allows the command line to sign in as the visitor, or denies it.
func (p *pages) decideOnGrant(x *exchange.Exchange, form url.Values) error {
	request, ok := parseGrantRequest(form)
	decision := form.Get("decision")
	switch {
	case !ok || decision != decisionAllow && decision != decisionDeny:
		return errGrantRequest
	case decision == decisionAllow:
		return p.allowGrant(x, request)
	case request.Port != "":
		return page.Redirect(x, request.callback(url.Values{"error": {"access_denied"}}))
	}
	return p.reply(x, http.StatusOK, deniedPage{})
}

// allowGrant creates the grant, and takes its code to the command line or shows it.
func (p *pages) allowGrant(x *exchange.Exchange, request grantRequest) error {
	response, err := p.run(x, createGrant,
		&call.Request{Message: &guidonv1.CreateGrantRequest{CodeChallenge: request.Challenge, Name: request.Name}}, "")
	switch {
	case page.IsSignedOut(err): // the session has ended in the meantime
		x.Event.Err = err
		return page.Redirect(x, p.SignInFor(request.page()))
	case err != nil:
		return err
	}
	code := response.Message.(*guidonv1.CreateGrantResponse).GetCode()
	if request.Port == "" {
		return p.reply(x, http.StatusOK, codePage{code, request.Name})
	}
	return page.Redirect(x, request.callback(url.Values{"code": {code}}))
}
