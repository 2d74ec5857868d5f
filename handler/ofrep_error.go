package handler

import (
	"errors"
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// The error codes of OFREP 5.
const (
	ofrepGeneral             = "GENERAL"
	ofrepParseError          = "PARSE_ERROR"
	ofrepInvalidContext      = "INVALID_CONTEXT"
	ofrepFlagNotFound        = "FLAG_NOT_FOUND"
	ofrepTargetingKeyMissing = "TARGETING_KEY_MISSING"
)

// ofrepError is an InvalidArgument of which OFREP knows more.
type ofrepError struct {
	code string
	err  error
}

func (e *ofrepError) Error() string { return e.err.Error() }
func (e *ofrepError) Unwrap() error { return e.err }

// withOFREPCode gives the error the code where it is an InvalidArgument.
func withOFREPCode(err error, code string) error {
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		return err
	}
	return &ofrepError{code: code, err: err}
}

func ofrepCodeOf(err error) string {
	if e, ok := errors.AsType[*ofrepError](err); ok {
		return e.code
	}
	if guidon.CodeOf(err) == guidon.NotFound {
		return ofrepFlagNotFound
	}
	return ofrepGeneral
}

// replyOFREPError answers with the error, which names the flag of the path even
// where that is all that could be understood. Clients parse the body whatever the
// status, and show its text only if key and code are there (OFREP 5).
func (x *exchange) replyOFREPError(err error) {
	status := HTTPStatus(guidon.CodeOf(err))
	if errors.Is(err, errNoMethod) {
		status = http.StatusMethodNotAllowed // not 501, which is for clients of Flipt v1
	}
	x.reply(status, contentJSON, appendOFREPError(nil, ofrepKey(x.request.URL.Path), err))
}

// appendOFREPError appends the error as an answer about the flag, if it is about
// one.
func appendOFREPError(b []byte, flagKey string, err error) []byte {
	b = append(b, '{')
	if flagKey != "" {
		b = append(codec.AppendString(append(b, `"key":`...), flagKey), ',')
	}
	b = codec.AppendString(append(b, `"errorCode":`...), ofrepCodeOf(err))
	b = codec.AppendString(append(b, `,"errorDetails":`...), guidon.PublicMessage(err))
	return append(b, '}')
}

// allowedOFREP returns the method of a path that has been asked for by another.
func allowedOFREP(path string) string {
	switch routePath(path) {
	case ofrepConfiguration, ofrepEvents:
		return get
	}
	return post
}
