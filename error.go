package guidon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Code classifies an [Error]. A Code is itself an error, so errors.Is(err,
// guidon.NotFound) reports whether err, or anything it wraps, has that code. Each
// transport maps codes to its own statuses in one table.
type Code uint8

// Codes. Their meaning on the wire is defined by contract 5.2.
const (
	Internal           Code = iota // unexpected; clients never see its text
	InvalidArgument                // the request breaks a rule, or its key exists already (contract 15)
	NotFound                       // the object or one of its parents does not exist
	Unauthenticated                // no credential, or an invalid one
	PermissionDenied               // a valid credential without the permission
	FailedPrecondition             // the revision, an object or a plan is no longer the expected one, or the database lacks a schema step
	TooLarge                       // a body, batch or stored object exceeds its limit
	Unimplemented                  // known, but disabled
	Unavailable                    // a dependency is down or too slow; try again later
	Canceled                       // the client disconnected or canceled
	DeadlineExceeded               // the client's deadline passed
	Limited                        // too many requests or failed credentials of this client, or too many failed ones of all
)

var codeTexts = [...]string{
	Internal:           "internal error",
	InvalidArgument:    "invalid argument",
	NotFound:           "not found",
	Unauthenticated:    "unauthenticated",
	PermissionDenied:   "permission denied",
	FailedPrecondition: "failed precondition",
	TooLarge:           "too large",
	Unimplemented:      "unimplemented",
	Unavailable:        "unavailable",
	Canceled:           "canceled",
	DeadlineExceeded:   "deadline exceeded",
	Limited:            "limited",
}

// Error implements error, so that a Code can be the target of errors.Is.
func (c Code) Error() string {
	if int(c) < len(codeTexts) {
		return codeTexts[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is the error type of the service. Message may be shown to clients, unless the
// code is Internal. Err is the cause, which only logs may contain.
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Error returns the message and, if there is one, the cause.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the code and the cause, so that errors.Is and errors.As find both.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Err}
}

// maxQuoted is how much of a text an error quotes, in bytes.
const maxQuoted = 400

// Errorf returns an *Error with the code and the formatted message. Of long strings among
// the arguments it quotes only the beginning, since they come from requests and files.
func Errorf(code Code, format string, args ...any) error {
	for i, arg := range args {
		if text, ok := arg.(string); ok && len(text) > maxQuoted {
			args = slices.Clone(args) // the caller may have passed a slice
			args[i] = Shorten(text, maxQuoted)
		}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Quote returns the text as errors quote it: in quotes and, if it is long, only its
// beginning.
func Quote(text string) string { return strconv.Quote(Shorten(text, maxQuoted)) }

// CodeOf returns the code of err: that of the outermost *Error, Canceled or
// DeadlineExceeded for the errors of package context, and Internal for
// everything else.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	switch {
	case errors.Is(err, context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return DeadlineExceeded
	}
	return Internal
}

// MaxPublicMessage is the maximum length of an error message sent to a client, in
// bytes. A message may quote a field of any length, and gRPC sends it in a header.
const MaxPublicMessage = 2048

// PublicMessage returns the message of err for clients, truncated to
// [MaxPublicMessage]. If err is not an *Error, or if its code is Internal, it returns
// the name of the code only.
func PublicMessage(err error) string {
	code := CodeOf(err)
	if e, ok := errors.AsType[*Error](err); ok && code != Internal {
		return Shorten(e.Message, MaxPublicMessage)
	}
	return code.Error()
}

// Shorten returns the text or, if it is longer than limit bytes, its beginning and "…",
// which together are at most that long. It never splits a character. The limit must be at
// least the length of "…", 3 bytes.
func Shorten(text string, limit int) string {
	const rest = "…"
	if len(text) <= limit {
		return text
	}
	end := limit - len(rest)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + rest
}
