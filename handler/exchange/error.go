package exchange

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/guidonhq/guidon"
)

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

// ReplyError responds with the error, in the form of the route or path, and records it in
// the event.
func (x *Exchange) ReplyError(err error) {
	x.Event.Err = err
	switch guidon.CodeOf(err) {
	case guidon.Unavailable, guidon.Limited:
		x.Header().Set("Retry-After", retryAfter(err))
	case guidon.Unauthenticated:
		x.forgetSession()
	}
	x.router.errorsOf(x).Error(x, err)
}

// Delayed is an error that says after how many seconds a client may try again.
type Delayed interface {
	error
	RetryAfter() string
}

func retryAfter(err error) string {
	if delayed, ok := errors.AsType[Delayed](err); ok {
		return delayed.RetryAfter()
	}
	return "1"
}

// forgetSession makes the browser forget a session that is not valid, if the route is one
// that does so (contract 10.4).
func (x *Exchange) forgetSession() {
	session := x.router.invoker.Session()
	if x.route == nil || !x.route.forgetsSession || !session.In(x.Request.Header["Cookie"]) {
		return
	}
	for _, cookie := range session.Clear() {
		x.Header().Add("Set-Cookie", cookie)
	}
}

// The errors of requests that match no route or no method (contract 1.6).
var (
	ErrNoRoute  = guidon.Errorf(guidon.NotFound, "Not Found")
	ErrNoMethod = guidon.Errorf(guidon.Unimplemented, "Method Not Allowed")
)
