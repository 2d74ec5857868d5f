package auth

import (
	"net/http"
	"net/url"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/wire/auth"
)

// maxLogoutForm limits the body of a logout request, in bytes. A token may have 64 KiB.
const maxLogoutForm = 72 << 10

// logoutForm is the form of a provider's request to end sessions (OpenID Connect
// Back-Channel Logout 1.0 2.5): the request is a form, the response JSON.
type logoutForm struct{ exchange.ErrorForm }

// Serve implements [exchange.Form].
func (logoutForm) Serve(x *exchange.Exchange, o *call.Operation) {
	x.Header().Set("Cache-Control", "no-store")
	ctx, cancel, err := x.Context()
	if err != nil {
		x.ReplyError(err)
		return
	}
	defer cancel()
	body, err := x.ReadBody(ctx, maxLogoutForm)
	if err != nil {
		x.ReplyError(err)
		return
	}
	values, err := url.ParseQuery(string(body))
	if err != nil || len(values["logout_token"]) != 1 {
		x.ReplyError(guidon.Errorf(guidon.InvalidArgument, "the body must be a form with one logout_token"))
		return
	}
	x.Call = call.Request{
		Message: &auth.RevokeRequest{Provider: x.PathVariable("provider"), LogoutToken: values.Get("logout_token")},
		Memory:  x.Call.Memory,
	}
	if _, err := x.Carry(ctx, o); err != nil {
		x.ReplyError(err)
		return
	}
	x.Reply(http.StatusOK, exchange.ContentJSON, []byte("{}"))
}
