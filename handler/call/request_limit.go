package call

import (
	"cmp"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/limit"
)

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
