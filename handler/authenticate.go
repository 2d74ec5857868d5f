package handler

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/guidonhq/guidon"
)

// The cookies of a browser session (design 9).
const (
	tokenCookie = "service_client_token"
	stateCookie = "service_client_state"
)

// authenticate finds out who calls, and whether a token that is limited to a
// namespace reaches this far.
func (h *Handler) authenticate(ctx context.Context, o *Operation, request *Request, call *guidon.Call) error {
	if err := h.admit(ctx, o, request, call); err != nil {
		return err
	}
	if a := call.Authentication; a != nil {
		if request.ofrep != nil {
			return request.ofrep.bind(a)
		}
		return checkScope(a, o, request.Message)
	}
	return nil
}

// admit finds out who calls. Where no credential is needed, none is looked at
// (contract 10.1).
func (h *Handler) admit(ctx context.Context, o *Operation, request *Request, call *guidon.Call) error {
	if request.Actor != nil {
		call.Actor = *request.Actor
		return nil
	}
	if !h.protects(o.Area) {
		return nil
	}
	recognized := call.Authentication
	call.Authentication, call.About = nil, request.names()
	a, err := h.identifyCaller(ctx, request, recognized)
	if err != nil {
		return err
	}
	call.Authentication, call.Actor = a, a.Actor()
	return nil
}

// protects tells whether an area needs a credential (operations 1.2).
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

// identifyCaller returns the authentication of the request's credential, whatever
// that is. If the token has been recognized it is not hashed again.
func (h *Handler) identifyCaller(ctx context.Context, request *Request, recognized *guidon.Authentication) (*guidon.Authentication, error) {
	c := request.capability
	switch {
	case recognized != nil:
		a, err := h.service.Reauthenticate(ctx, recognized)
		return a, refusal(err, reasonUnknown)
	case c == nil:
		return h.identify(ctx, request.Authorization, request.Cookie)
	}
	a, until, err := h.service.AuthenticateListener(ctx, c.namespace, c.text, c.arrived)
	c.until = until
	return a, refusal(err, "the capability is not valid here, or the token behind it")
}

// identify returns the authentication of the credential. Every failure looks
// the same to the caller; the log has the reason (operations 1.1).
func (h *Handler) identify(ctx context.Context, authorization, cookie []string) (*guidon.Authentication, error) {
	token, err := clientToken(authorization, cookie)
	if err != nil {
		return nil, err
	}
	a, err := h.service.Authenticate(ctx, token)
	return a, refusal(err, reasonUnknown)
}

// reasonUnknown is logged for a token that identifies nobody.
const reasonUnknown = "the token is unknown or has expired"

// refusal returns err, with the reason for the log if it is Unauthenticated.
func refusal(err error, reason string) error {
	if errors.Is(err, guidon.Unauthenticated) {
		return unauthenticated(reason)
	}
	return err
}

// clientToken returns the client token of the credential. The cookie counts only
// where there is no Authorization header at all (contract 10.2).
func clientToken(authorization, cookie []string) (string, error) {
	if len(authorization) > 0 {
		token, ok := strings.CutPrefix(authorization[0], "Bearer ")
		if !ok || token == "" {
			return "", unauthenticated("the Authorization header is not of a known form")
		}
		return token, nil
	}
	if token := tokenFromCookies(cookie); token != "" {
		return token, nil
	}
	return "", unauthenticated("there is no credential")
}

// tokenFromCookies returns the value of the token cookie, or nothing.
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

// unauthenticated returns the one error of authentication, with a reason for
// the log.
func unauthenticated(reason string) error {
	return &guidon.Error{
		Code:    guidon.Unauthenticated,
		Message: guidon.PublicMessage(guidon.ErrUnauthenticated),
		Err:     errors.New(reason),
	}
}

// clearsCookies tells whether a 401 is to end the browser's session: one on an
// authentication path that came with the token cookie (contract 10.4).
func (x *exchange) clearsCookies() bool {
	return underAny(x.request.URL.Path, []string{authPrefix}) && tokenFromCookies(x.request.Header["Cookie"]) != ""
}

// clearCookies makes the browser forget both cookies.
func clearCookies(header http.Header) {
	for _, name := range []string{stateCookie, tokenCookie} {
		// #nosec G124 -- there is no value to keep safe, and plain HTTP could not clear a Secure one
		c := http.Cookie{Name: name, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode}
		header.Add("Set-Cookie", c.String())
	}
}
