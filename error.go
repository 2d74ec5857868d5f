package guidon

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Code classifies an [Error]. A Code is itself an error, so
// errors.Is(err, guidon.NotFound) tells whether err, or anything it wraps, is
// of that class. Each transport has one table from Code to its own status.
type Code uint8

// The codes. Their wire meaning is fixed by contract 5.2.
const (
	Internal           Code = iota // unexpected; its text is never shown to a caller
	InvalidArgument                // the request breaks a rule, duplicates included (contract 15)
	NotFound                       // the thing, or a parent of it, does not exist
	Unauthenticated                // no credential, or one that is not valid
	PermissionDenied               // a valid credential that may not do this
	FailedPrecondition             // If-Match names a revision that is no longer current
	TooLarge                       // a body, batch or stored object beyond its bound
	Unimplemented                  // known, but switched off
	Unavailable                    // a dependency is away or the wait was too long; try again later
	Canceled                       // the caller went away
	DeadlineExceeded               // the caller's deadline passed
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
}

// Error makes a Code usable as the target of errors.Is.
func (c Code) Error() string {
	if int(c) < len(codeTexts) {
		return codeTexts[c]
	}
	return fmt.Sprintf("code %d", uint8(c))
}

// Error is the one error type of the service. Message is fit for the caller;
// Err is the cause, for the log only.
type Error struct {
	Code    Code
	Message string
	Err     error
}

// Error returns the message, followed by the cause where there is one.
func (e *Error) Error() string {
	if e.Err == nil {
		return e.Message
	}
	return e.Message + ": " + e.Err.Error()
}

// Unwrap returns the code and the cause, so that errors.Is and errors.As find either.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Err}
}

// Errorf returns an *Error with the code and the formatted message.
func Errorf(code Code, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

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

// MaxPublicMessage is the longest text that a caller gets of an error, in bytes. It may
// quote a field of any length, and over gRPC it is in a header.
const MaxPublicMessage = 2048

// PublicMessage returns the text of err that a caller may see, cut to
// [MaxPublicMessage]. The text of an error that is not an *Error, or of one whose code
// is Internal, stays inside.
func PublicMessage(err error) string {
	code := CodeOf(err)
	if e, ok := errors.AsType[*Error](err); ok && code != Internal {
		return cut(e.Message, MaxPublicMessage)
	}
	return code.Error()
}

// cut returns at most limit bytes of the text, and says if that is not all of it.
func cut(text string, limit int) string {
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
