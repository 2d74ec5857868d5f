package web

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// signedOutPage is the model of the page that links to the provider, where the session is
// to be ended too.
type signedOutPage struct{ Next string }

func (signedOutPage) title() string { return "Signed out" }

// signOut ends the session of the browser or, if the form says so, all sessions of the
// visitor.
//
// The provider, if there is one to go to, is reached by a page with a link and a Refresh
// header: the policy for forms, which holds for the redirects after them too, allows no
// other origin.
func (p *pages) signOut(x *exchange.Exchange, form url.Values) error {
	response, err := p.run(x, revokeSelf,
		&call.Request{Message: &auth.RevokeAuthenticationSelfRequest{Everywhere: form.Get("everywhere") == "true"}}, "")
	switch {
	case page.IsSignedOut(err): // it has ended already
		p.forgetSession(x)
	case err != nil:
		return err
	default:
		if next := webAddress(response.Message.(*auth.RevokeAuthenticationSelfResponse).GetNextUri()); next != "" {
			x.Header().Set("Refresh", "0; url="+next)
			return p.reply(x, http.StatusOK, signedOutPage{next})
		}
	}
	return page.Redirect(x, p.SignInFor(p.ReturnTo(form.Get("return_to"))))
}

// webAddress returns the URL in a form that fits a header, or "" if it is not a web URL.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}
