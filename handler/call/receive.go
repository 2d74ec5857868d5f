package call

import (
	"context"
	"errors"
	"time"

	"github.com/guidonhq/guidon"
)

// Source is an encoded message that a transport has not read yet.
type Source interface {
	// Receive reads the message within the limits and sets request.Message. It is
	// called at most once. Its error may quote the message.
	Receive(ctx context.Context, o *Operation, request *Request, limits Limits) error
}

// Limits limits the size of a request.
type Limits struct {
	Bytes  int64 // in encoded form
	Values int   // members and elements
}

// anonymousBodyLimit is the largest body that is read from a caller without a valid
// credential, if credentials are required in general but not for the operation.
const anonymousBodyLimit = 64 << 10

// receive reads the message of a request that has a source. Nothing is read from a
// caller that lacks a required credential, so that it cannot make the service use memory.
func (i *Invoker) receive(ctx context.Context, o *Operation, request *Request, work *Work) error {
	if request.Source == nil {
		return nil
	}
	limits, err := i.recognize(ctx, o, request, &work.call)
	if err != nil {
		return err
	}
	err = request.Source.Receive(ctx, o, request, limits)
	if err == nil {
		return nil
	}
	work.undecoded = true
	if i.Protects(o.Area) && errors.Is(err, guidon.InvalidArgument) {
		// The caller was recognized by the tokens in memory. If its token has been
		// deleted since, the error must be the same as for an unknown token.
		if refused := i.resolveCaller(ctx, o, request, &work.call); errors.Is(refused, guidon.Unauthenticated) {
			return refused
		}
	}
	return err
}

// anyTime is an arrival time for which all tokens in memory are fresh enough.
var anyTime = time.Now()

// recognize returns the limits of the caller's request, or Unauthenticated if a required
// credential is missing or not valid.
//
// The caller is recognized if this instance has its token in memory, however long ago
// the tokens were read. Whether the token is still valid is checked after decoding, by
// the same query as the revision of the namespace that the message names. A token that
// is not in memory may be new, so the tokens are read again.
func (i *Invoker) recognize(ctx context.Context, o *Operation, request *Request, call *Call) (Limits, error) {
	if request.Actor != nil || !i.config.Authentication.Required {
		return o.limits, nil
	}
	if !i.Protects(o.Area) {
		return i.limitsOf(ctx, o, request, call), nil
	}
	if request.confined() != nil { // it names its namespace already
		return o.limits, i.resolveCaller(ctx, o, request, call)
	}
	known := call.Demand
	known.Begun = anyTime
	a, age, err := i.identifyCaller(ctx, known, call, request, nil)
	if errors.Is(err, guidon.Unauthenticated) {
		a, age, err = i.identifyCaller(ctx, call.Demand, call, request, nil)
	}
	call.Caller.Authentication, call.Age = a, age
	return o.limits, err
}

// limitsOf returns the limits of a request to an operation that is exempt from
// authentication, if other operations require credentials.
func (i *Invoker) limitsOf(ctx context.Context, o *Operation, request *Request, call *Call) Limits {
	limits := o.limits
	if o.Area == AreaEvaluation || o.Area == AreaOFREP || o.Has(ServesStale) || limits.Bytes <= anonymousBodyLimit {
		return limits
	}
	if len(request.Authorization) > 0 || len(request.Cookie) > 0 {
		if _, _, err := i.identifyCaller(ctx, call.Demand, call, request, nil); err == nil {
			return limits
		}
	}
	limits.Bytes = anonymousBodyLimit
	return limits
}
