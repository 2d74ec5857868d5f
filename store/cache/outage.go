package cache

import (
	"time"

	"github.com/guidonhq/guidon"
)

const (
	// staleWait is how long a request that can be served from memory waits if the last
	// query succeeded, measured from the start of the query.
	staleWait = 2 * time.Second
	// outageWait is how long any request waits, from the same moment, if the last query
	// failed.
	outageWait = 50 * time.Millisecond
	// retryPause is how long after a failed query no other one is started.
	retryPause = 100 * time.Millisecond
	// failureTTL is how long a failure counts as a sign of an outage.
	failureTTL = 2 * time.Second
)

// outage records the outcome of the last query to the source.
type outage struct {
	cause     error // why it failed; nil if the source responded
	failed    int64 // when it failed
	succeeded int64 // start of the last query that succeeded
	slow      bool  // that query took staleWait or longer
}

// expectFast reports whether the next query will probably complete before any of its
// waiters gives up.
func (o *outage) expectFast() bool { return o.cause == nil && !o.slow }

// record records the outcome of a query.
func (o *outage) record(began, now int64, err error) {
	switch {
	case err == nil:
		*o = outage{succeeded: began, slow: now-began >= int64(staleWait)}
	case guidon.CodeOf(err) == guidon.Unavailable:
		o.cause, o.failed = err, now
	default:
		o.cause = nil // the source responds, though with an error
	}
}

// wait returns how long to wait for a query, zero for no limit, or an error if waiting
// is pointless. began is the start of the running query, or zero if none is running.
func (o *outage) wait(now, began int64, mayBeStale bool) (time.Duration, error) {
	started := now
	if began != 0 {
		started = began
	}
	limit := time.Duration(0)
	switch recent := o.cause != nil && started-o.failed < int64(failureTTL); {
	case recent && began == 0 && now-o.failed < int64(retryPause):
		return 0, o.unavailable()
	case recent:
		limit = outageWait
	case mayBeStale:
		limit = staleWait
	default:
		return 0, nil
	}
	limit -= time.Duration(now - started)
	if limit <= 0 {
		return 0, o.unavailable()
	}
	return limit, nil
}

// unavailable returns the error for callers that do not wait.
func (o *outage) unavailable() error {
	return &guidon.Error{Code: guidon.Unavailable, Message: "the database does not answer; try again later", Err: o.cause}
}

// duration returns how long the source has not responded, or zero if it does. A query
// that has run for staleWait counts as an outage.
func (o *outage) duration(now, began int64) time.Duration {
	if o.cause == nil && (began == 0 || now-began < int64(staleWait)) {
		return 0
	}
	return time.Duration(now - o.succeeded)
}
