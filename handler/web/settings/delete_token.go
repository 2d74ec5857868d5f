package settings

import (
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// askDeleteToken asks whether to delete a token.
func askDeleteToken(v *page.Visit, t *auth.Authentication) error {
	return show(v, http.StatusOK, tokensSection, "Delete a token", tokenQuestion(v, t, ""))
}

// findToken returns the static token of the address.
func findToken(v *page.Visit) (*auth.Authentication, error) {
	t, err := page.GetAuthentication.Run(v, &auth.GetAuthenticationRequest{Id: v.Variable("id")})
	if guidon.CodeOf(err) == guidon.NotFound || err == nil && (t.GetMethod() != auth.Method_METHOD_TOKEN || t.GetClient() != "") {
		return nil, notFound("There is no such token", "It may have been deleted already.")
	}
	return t, err
}

// isOwn reports whether the visitor is signed in with the token.
func isOwn(v *page.Visit, t *auth.Authentication) bool {
	a := v.Visitor.Authentication
	return a != nil && (a.Parent == t.GetId() || a.ID == t.GetId())
}

// removeToken deletes a token.
func removeToken(v *page.Visit, t *auth.Authentication) error {
	_, err := page.DeleteAuthentication.Run(v, &auth.DeleteAuthenticationRequest{Id: t.GetId()})
	if guidon.CodeOf(err) == guidon.InvalidArgument { // no administrator would remain
		return show(v, unprocessable, tokensSection, "Delete a token", tokenQuestion(v, t, page.Sentence(guidon.PublicMessage(err))))
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("settings", "tokens") + "?deleted=1")
}
