package handler

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// The cookies of a browser session.
const (
	tokenCookie = "service_client_token"
	stateCookie = "service_client_state"
)

// authenticate identifies the caller and checks that the scope of a token which is
// limited to a namespace covers the request.
func (h *Handler) authenticate(ctx context.Context, o *Operation, request *Request, call *call) error {
	if err := h.resolveCaller(ctx, o, request, call); err != nil {
		return err
	}
	if a := call.caller.Authentication; a != nil {
		if request.ofrep != nil {
			return request.ofrep.bind(a)
		}
		return checkScope(a, o, request.Message)
	}
	return nil
}

// resolveCaller identifies the caller and records it in call. If no credential is
// needed, credentials are ignored (contract 10.1).
func (h *Handler) resolveCaller(ctx context.Context, o *Operation, request *Request, call *call) error {
	if request.Actor != nil {
		call.caller.Actor = *request.Actor
		return nil
	}
	if !h.protects(o.Area) {
		return nil
	}
	recognized := call.caller.Authentication
	call.caller.Authentication = nil
	a, age, err := h.identifyCaller(ctx, call.demand, request, recognized)
	call.age = age
	if err != nil {
		return err
	}
	call.caller.Authentication, call.caller.Actor = a, a.Actor()
	return nil
}

// protects reports whether an area needs a credential (operations 1.2).
func (h *Handler) protects(area Area) bool {
	config := h.config.Authentication
	switch area {
	case AreaPublic:
		return false
	case AreaManagement:
		return config.Required && !config.ExcludeManagement
	case AreaEvaluation:
		return config.Required && !config.ExcludeEvaluation
	case AreaOFREP:
		return config.Required && !config.ExcludeOFREP
	}
	return config.Required
}

// identifyCaller returns the authentication of the request's credential: a token, a
// cookie or a capability, and the age of the tokens if they are stale. A token that was
// recognized before is not hashed again.
func (h *Handler) identifyCaller(ctx context.Context, d service.Demand, request *Request, recognized *service.Authentication) (*service.Authentication, time.Duration, error) {
	c := request.capability
	switch {
	case recognized != nil:
		a, age, err := h.service.Reauthenticate(ctx, d, request.about(), recognized)
		return a, age, withReason(err, reasonUnknown)
	case c == nil:
		return h.identify(ctx, d, request.about(), request.Authorization, request.Cookie)
	}
	a, age, until, err := h.service.AuthenticateListener(ctx, d, c.namespace, c.text, c.arrived)
	c.until = until
	return a, age, withReason(err, "the capability, or the token it was issued for, is not valid here")
}

// identify returns the authentication of the credential, and the age of the tokens if
// they are stale. next is the namespace that will be read next, or "". The caller cannot
// distinguish failures; the reason is only logged (operations 1.1).
func (h *Handler) identify(ctx context.Context, d service.Demand, next string, authorization, cookie []string) (*service.Authentication, time.Duration, error) {
	token, err := clientToken(authorization, cookie)
	if err != nil {
		return nil, 0, err
	}
	a, age, err := h.service.Authenticate(ctx, d, next, token)
	return a, age, withReason(err, reasonUnknown)
}

// reasonUnknown is logged for a token that identifies no caller.
const reasonUnknown = "the token is unknown or has expired"

// withReason returns err, with the reason for the log if it is Unauthenticated.
func withReason(err error, reason string) error {
	if errors.Is(err, guidon.Unauthenticated) {
		return unauthenticated(reason)
	}
	return err
}

// clientToken returns the client token of the credential. The cookie is used only if
// there is no Authorization header at all (contract 10.2).
func clientToken(authorization, cookie []string) (string, error) {
	if len(authorization) > 0 {
		token, ok := strings.CutPrefix(authorization[0], "Bearer ")
		if !ok || token == "" {
			return "", unauthenticated("the Authorization header is not a bearer token")
		}
		return token, nil
	}
	if token := tokenFromCookies(cookie); token != "" {
		return token, nil
	}
	return "", unauthenticated("no credential in the request")
}

// tokenFromCookies returns the value of the token cookie, or "" if there is none.
func tokenFromCookies(lines []string) string {
	for _, line := range lines {
		if !strings.Contains(line, tokenCookie) {
			continue
		}
		cookies, err := http.ParseCookie(line)
		if err != nil {
			continue
		}
		for _, c := range cookies {
			if c.Name == tokenCookie {
				return c.Value
			}
		}
	}
	return ""
}

// unauthenticated returns the error of every failed authentication, with a reason for
// the log.
func unauthenticated(reason string) error {
	return &guidon.Error{
		Code:    guidon.Unauthenticated,
		Message: guidon.PublicMessage(service.ErrUnauthenticated),
		Err:     errors.New(reason),
	}
}

// clearsCookies reports whether a 401 must end the browser's session: that of a request
// for an authentication path with the token cookie (contract 10.4).
func (x *exchange) clearsCookies() bool {
	return underAny(x.request.URL.Path, []string{authPrefix}) && tokenFromCookies(x.request.Header["Cookie"]) != ""
}

// clearCookies makes the browser delete both cookies.
func clearCookies(header http.Header) {
	for _, name := range []string{stateCookie, tokenCookie} {
		// #nosec G124 -- there is no value to keep safe, and plain HTTP could not clear a Secure one
		c := http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}
		header.Add("Set-Cookie", c.String())
	}
}
