package call

import (
	"time"

	"github.com/guidonhq/guidon/service"
)

// Call is one call of an operation: who makes it and what it requires.
type Call struct {
	Caller  service.Caller
	Demand  service.Demand
	IfMatch *int64        // the revision that a write requires, or nil
	Message string        // why a write is made, or ""
	DryRun  bool          // a write is checked and answered, and not stored
	Age     time.Duration // of the tokens that identified the caller; 0 unless they are stale
	Span    Span          // of the operation, or nil if it is not traced
	Until   time.Time     // when the caller's capability ends, or zero
}

// Write returns on whose behalf, under which condition and why the call changes something.
func (c *Call) Write() service.Write {
	return service.Write{By: c.Caller, IfMatch: c.IfMatch, Message: c.Message, DryRun: c.DryRun}
}
