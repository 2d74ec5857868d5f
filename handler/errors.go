package handler

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/guidonhq/guidon"
)

// statusClientGone is the status for a caller that disconnected (contract 5.2).
const statusClientGone = 499

// transportCode is the form of a code on the wire.
type transportCode struct {
	grpc uint32
	http int
}

// transportCodes is the mapping of contract 5.2. FailedPrecondition and TooLarge are
// additions: the reference uses neither.
var transportCodes = [...]transportCode{
	guidon.Internal:           {13, http.StatusInternalServerError},
	guidon.InvalidArgument:    {3, http.StatusBadRequest},
	guidon.NotFound:           {5, http.StatusNotFound},
	guidon.Unauthenticated:    {16, http.StatusUnauthorized},
	guidon.PermissionDenied:   {7, http.StatusForbidden},
	guidon.FailedPrecondition: {9, http.StatusPreconditionFailed},
	guidon.TooLarge:           {8, http.StatusRequestEntityTooLarge},
	guidon.Unimplemented:      {12, http.StatusNotImplemented},
	guidon.Unavailable:        {14, http.StatusServiceUnavailable},
	guidon.Canceled:           {1, statusClientGone},
	guidon.DeadlineExceeded:   {4, http.StatusGatewayTimeout},
}

// GRPCCode returns the number of the gRPC status code, 0 for [OK].
func GRPCCode(code guidon.Code) uint32 { return transportOf(code).grpc }

// HTTPStatus returns the HTTP status, 200 for [OK].
func HTTPStatus(code guidon.Code) int { return transportOf(code).http }

func transportOf(code guidon.Code) transportCode {
	switch {
	case code == OK:
		return transportCode{0, http.StatusOK}
	case int(code) < len(transportCodes):
		return transportCodes[code]
	}
	return transportCodes[guidon.Internal]
}

// status is the body of an error. It has no other members, because clients parse it
// strictly (contract 5.1).
type status struct {
	Code    uint32      `json:"code"`
	Message string      `json:"message"`
	Details *[]struct{} `json:"details,omitempty"`
}

// encode returns the body. Pretty bodies omit zero values (contract 1.3).
func (s status) encode(pretty bool) []byte {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if pretty {
		encoder.SetIndent("", "  ")
	} else {
		s.Details = &[]struct{}{}
	}
	_ = encoder.Encode(s) // strings and a number: cannot fail
	return bytes.TrimSuffix(body.Bytes(), []byte("\n"))
}

// replyError responds with the error and records it in the event.
func (x *exchange) replyError(err error) {
	x.event.err = err
	code := guidon.CodeOf(err)
	message := guidon.PublicMessage(err)
	header := x.Header()
	if code == guidon.Unavailable {
		header.Set("Retry-After", "1")
	}
	if isOFREP(x.request.URL.Path) {
		x.replyOFREPError(err)
		return
	}
	if code == guidon.Unauthenticated {
		header.Set("WWW-Authenticate", message)
		if x.clearsCookies() {
			clearCookies(header)
		}
	}
	x.reply(HTTPStatus(code), contentJSON, status{Code: GRPCCode(code), Message: message}.encode(x.pretty()))
}

// The errors of requests that match no route or no method (contract 1.6).
var (
	errNoRoute  = guidon.Errorf(guidon.NotFound, "Not Found")
	errNoMethod = guidon.Errorf(guidon.Unimplemented, "Method Not Allowed")
)

func (h *Handler) serveNotFound(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	if isAPI(r.URL.Path) {
		x.replyError(errNoRoute)
		return
	}
	x.event.err = errNoRoute
	x.reply(http.StatusNotFound, "text/plain; charset=utf-8", []byte("404 page not found\n"))
}

func (h *Handler) serveMethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	if isOFREP(r.URL.Path) {
		w.Header().Set("Allow", allowedOFREP(r.URL.Path))
	}
	w.(*exchange).replyError(errNoMethod)
}
