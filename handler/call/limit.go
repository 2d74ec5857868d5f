package call

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
)

// Sender knows where a request comes from. It is only asked if that matters.
type Sender interface {
	// From returns the address of the connection, in the form of net/http, and the
	// values of X-Forwarded-For. ctx is that of the request.
	From(ctx context.Context) (connection string, forwarded []string)
}

// limit counts err as a failure of the sender if a credential has failed, and returns it.
// If the failure is beyond a limit, it returns Limited instead. A missing credential has
// not failed, nor has a valid one that is not enough for the request.
//
// A request must pass here once, when it is certain that it is denied.
func (i *Invoker) limit(ctx context.Context, from Sender, err error) error {
	if err == nil || from == nil || i.config.Failures == nil || !isFailure(err) {
		return err
	}
	if !i.config.Failures.Fail(i.config.Proxies.Caller(from.From(ctx))) {
		return err
	}
	return tooMany(err)
}

// isFailure reports whether err is that of a credential that has failed.
func isFailure(err error) bool {
	if _, failed := errors.AsType[failure](err); failed {
		return true
	}
	_, failed := errors.AsType[*failedCredential](err)
	return failed
}

// tooMany returns the error for a failure beyond a limit, which err is, or would be.
func tooMany(err error) error {
	return &guidon.Error{
		Code:    guidon.Limited,
		Message: "too many requests with invalid credentials; try again later",
		Err:     err,
	}
}
