package handler

import (
	"time"

	"github.com/guidonhq/guidon/service"
)

// call is one call of an operation: who makes it and what it requires.
type call struct {
	caller  service.Caller
	demand  service.Demand
	ifMatch *int64        // the revision that a write requires, or nil
	age     time.Duration // of the tokens that identified the caller; 0 unless they are stale
}

// write returns on whose behalf, and under which condition, the call changes something.
func (c *call) write() service.Write { return service.Write{By: c.caller, IfMatch: c.ifMatch} }
