package call

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/limit"
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

// RequestLimiter limits the evaluation requests of each credential by a bucket, which holds
// the requests of ten seconds. A request beyond the limit takes nothing, so its sender is
// slowed down to the limit but never locked out.
//
// A RequestLimiter is safe for concurrent use. Its memory is limited; see [limit.MaxKeys].
type RequestLimiter struct {
	now func() time.Time

	mu      sync.Mutex
	buckets *limit.BucketTable[string] // by the keys of credentials
}

// NewRequestLimiter returns a RequestLimiter that allows so many requests per second for
// each credential.
func NewRequestLimiter(perSecond int, now func() time.Time) *RequestLimiter {
	return &RequestLimiter{now: now, buckets: limit.NewBucketTable[string](limit.PerSecond(perSecond))}
}

var errTooManyRequests = guidon.Errorf(guidon.Limited, "too many requests with this credential; try again later")

// limitRequests returns Limited if the request is one more than its credential may send. A
// request without a sender, such as a poll of an open stream, was not sent by a client.
func (i *Invoker) limitRequests(o *Operation, request *Request, call *Call) error {
	if i.config.Requests == nil || request.Sender == nil || !o.Evaluates() {
		return nil
	}
	return i.config.Requests.take(credentialKey(call))
}

// credentialKey returns the key of the credential of an identified caller: the id of
// its record or, if it has none, the actor, which is the subject of the identity then.
func credentialKey(call *Call) string {
	return cmp.Or(call.Caller.Authentication.ID, call.Caller.Actor.ID)
}

func (l *RequestLimiter) take(key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buckets.Take(key, l.now()) {
		return nil
	}
	return errTooManyRequests
}
