package web

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// signOut ends the session of the browser or, if the form says so, all sessions of the
// visitor.
//
// The provider, if there is one to go to, is reached by a page with a link and a Refresh
// header: the policy for forms, which holds for the redirects after them too, allows no
// other origin.
func signOut(v *page.Visit, form url.Values) error {
	response, err := run(v, revokeSelf, &auth.RevokeAuthenticationSelfRequest{Everywhere: form.Get("everywhere") == "true"}, "")
	switch {
	case page.IsSignedOut(err): // it has ended already
		forgetSession(v)
	case err != nil:
		return err
	default:
		if next := webAddress(response.Message.(*auth.RevokeAuthenticationSelfResponse).GetNextUri()); next != "" {
			v.Header().Set("Refresh", "0; url="+next)
			return reply(v, http.StatusOK, "Signed out", signedOutMain(v.Site, next))
		}
	}
	return page.Redirect(v.Exchange, v.Site.SignInFor(v.Site.ReturnTo(form.Get("return_to"))))
}

// webAddress returns the URL in a form that fits a header, or "" if it is not a web URL.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return ""
	}
	return u.String()
}
