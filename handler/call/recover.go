package call

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/guidonhq/guidon"
)

// PanicError is a panic turned into an error. Its code is Internal.
type PanicError struct {
	value any
	stack []byte
}

// Recovered returns the error of a recovered panic, with the stack of the caller.
func Recovered(value any) error { return &PanicError{value: value, stack: debug.Stack()} }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// Unwrap makes the error Internal even if the value is an error itself.
func (e *PanicError) Unwrap() error { return guidon.Internal }

// IsAbort reports whether the panic value is http.ErrAbortHandler, by which a handler
// makes net/http abort the connection.
func IsAbort(v any) bool {
	err, ok := v.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}
