package ofrep

import (
	"errors"
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/exchange"
)

// Error codes of bad requests (OFREP 5). [evaluation.ErrorCode] has the others.
const (
	codeParseError          = "PARSE_ERROR"
	codeInvalidContext      = "INVALID_CONTEXT"
	codeTargetingKeyMissing = "TARGETING_KEY_MISSING"
)

// codedError is an InvalidArgument with a more specific OFREP code.
type codedError struct {
	code string
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// OFREPCode implements [evaluation.CodedError].
func (e *codedError) OFREPCode() string { return e.code }

// withCode adds the code to err if it is an InvalidArgument.
func withCode(err error, code string) error {
	if guidon.CodeOf(err) != guidon.InvalidArgument {
		return err
	}
	return &codedError{code: code, err: err}
}

// Error implements [exchange.Form]. The body includes the flag in the path even if the
// rest of the request is unintelligible: clients parse the body whatever the status,
// and show its text only if key and code are present (OFREP 5).
func (form) Error(x *exchange.Exchange, err error) {
	status := call.HTTPStatus(guidon.CodeOf(err))
	if errors.Is(err, exchange.ErrNoMethod) {
		status = http.StatusMethodNotAllowed // 501 is only for clients of Flipt v1
		x.Header().Set("Allow", allowedMethod(x))
	}
	x.Reply(status, exchange.ContentJSON, appendError(nil, flagKey(x), err))
}

// appendError appends the error response, with the flag key unless it is empty.
func appendError(b []byte, flagKey string, err error) []byte {
	b = append(b, '{')
	if flagKey != "" {
		b = append(jsontext.AppendString(append(b, `"key":`...), flagKey), ',')
	}
	b = jsontext.AppendString(append(b, `"errorCode":`...), evaluation.ErrorCode(err))
	b = jsontext.AppendString(append(b, `,"errorDetails":`...), guidon.PublicMessage(err))
	return append(b, '}')
}

// allowedMethod returns the method that the path supports.
func allowedMethod(x *exchange.Exchange) string {
	switch x.Path() {
	case ConfigurationPath, EventsPath:
		return http.MethodGet
	}
	return http.MethodPost
}
