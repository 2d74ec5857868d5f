package ofrep

import (
	"errors"
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/exchange"
)

// Error codes (OFREP 5).
const (
	ofrepGeneral             = "GENERAL"
	ofrepParseError          = "PARSE_ERROR"
	ofrepInvalidContext      = "INVALID_CONTEXT"
	ofrepFlagNotFound        = "FLAG_NOT_FOUND"
	ofrepTargetingKeyMissing = "TARGETING_KEY_MISSING"
)

// ofrepError is an InvalidArgument with a more specific OFREP code.
type ofrepError struct {
	code string
	err  error
}

func (e *ofrepError) Error() string { return e.err.Error() }
func (e *ofrepError) Unwrap() error { return e.err }

// OFREPCode implements [CodedError].
func (e *ofrepError) OFREPCode() string { return e.code }

// withOFREPCode adds the code to err if it is an InvalidArgument.
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

// Error implements [Form]. The body includes the flag in the path even if the rest of the
// request is unintelligible: clients parse the body whatever the status, and show its
// text only if key and code are present (OFREP 5).
func (ofrepForm) Error(x *exchange.Exchange, err error) {
	status := call.HTTPStatus(guidon.CodeOf(err))
	if errors.Is(err, exchange.ErrNoMethod) {
		status = http.StatusMethodNotAllowed // 501 is only for clients of Flipt v1
		x.Header().Set("Allow", allowedMethod(x))
	}
	x.Reply(status, exchange.ContentJSON, appendOFREPError(nil, ofrepKey(x), err))
}

// appendOFREPError appends the error response, with the flag key unless it is empty.
func appendOFREPError(b []byte, flagKey string, err error) []byte {
	b = append(b, '{')
	if flagKey != "" {
		b = append(jsontext.AppendString(append(b, `"key":`...), flagKey), ',')
	}
	b = jsontext.AppendString(append(b, `"errorCode":`...), ofrepCodeOf(err))
	b = jsontext.AppendString(append(b, `,"errorDetails":`...), guidon.PublicMessage(err))
	return append(b, '}')
}

// allowedMethod returns the method that the path supports.
func allowedMethod(x *exchange.Exchange) string {
	switch x.Path() {
	case OfrepConfiguration, OfrepEvents:
		return http.MethodGet
	}
	return http.MethodPost
}
