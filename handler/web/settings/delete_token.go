package settings

import (
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// tokenQuestion is the model of the page that asks whether to delete a token.
type tokenQuestion struct {
	Token   *auth.Authentication
	Refused string // why it was not deleted, or ""
}

// askDeleteToken asks whether to delete a token.
func askDeleteToken(v *page.Visit, t *auth.Authentication) error {
	return tokenQuestion{Token: t}.show(v, http.StatusOK)
}

func (q tokenQuestion) show(v *page.Visit, status int) error {
	return show(v, status, tokensSection, "Delete a token", q.main(v))
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
func (q tokenQuestion) isOwn(v *page.Visit) bool {
	a := v.Visitor.Authentication
	return a != nil && (a.Parent == q.Token.GetId() || a.ID == q.Token.GetId())
}

// removeToken deletes a token.
func removeToken(v *page.Visit, t *auth.Authentication) error {
	_, err := page.DeleteAuthentication.Run(v, &auth.DeleteAuthenticationRequest{Id: t.GetId()})
	if guidon.CodeOf(err) == guidon.InvalidArgument { // no administrator would remain
		return tokenQuestion{t, page.Sentence(guidon.PublicMessage(err))}.show(v, unprocessable)
	}
	if err != nil {
		return err
	}
	return v.Redirect(page.Below("settings", "tokens") + "?deleted=1")
}
