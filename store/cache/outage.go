package cache

import (
	"time"

	"github.com/guidonhq/guidon"
)

const (
	// staleWait is how long one who can be answered from memory waits for a source
	// that answered the last time, from the begin of the question.
	staleWait = 2 * time.Second
	// outageWait is how long anybody waits for one that did not.
	outageWait = 50 * time.Millisecond
	// retryPause is for how long after a question failed nobody asks the next.
	retryPause = 100 * time.Millisecond
	// failureTTL is for how long a failure tells anything about the source.
	failureTTL = 2 * time.Second
)

// outage is what the last question tells about the source.
type outage struct {
	cause     error // what it failed with; nil when it was answered
	failed    int64 // when it did
	succeeded int64 // when the last question began that was answered
	slow      bool  // and it took longer than those wait who need not
}

// expectFast tells whether the next question will probably be answered before anybody
// who waits for it has to leave.
func (o *outage) expectFast() bool { return o.cause == nil && !o.slow }

// record takes note of how a question ended.
func (o *outage) record(began, now int64, err error) {
	switch {
	case err == nil:
		*o = outage{succeeded: began, slow: now-began >= int64(staleWait)}
	case guidon.CodeOf(err) == guidon.Unavailable:
		o.cause, o.failed = err, now
	default:
		o.cause = nil // it answers, if with an error
	}
}

// wait returns how long to wait for an answer, zero for as long as it takes, or
// the error where there is nothing to wait for. began is the begin of the
// question under way, zero for none.
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

// unavailable is the error of those who do not wait.
func (o *outage) unavailable() error {
	return &guidon.Error{Code: guidon.Unavailable, Message: "the database does not answer; try again later", Err: o.cause}
}

// duration returns for how long the source has not answered, zero while it does.
func (o *outage) duration(now, began int64) time.Duration {
	if o.cause == nil && (began == 0 || now-began < int64(staleWait)) {
		return 0
	}
	return time.Duration(now - o.succeeded)
}
