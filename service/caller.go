package service

import "github.com/guidonhq/guidon/change"

// Caller is who makes a request.
type Caller struct {
	Actor          change.Actor    // the author of changes; if it is zero, see Author
	Authentication *Authentication // the credential presented, or nil
	RequestID      string
	RequestIDGiven bool   // RequestID was chosen by the client, which may reuse it
	Address        string // if changes of authentications and bindings record it
}

// Author returns the actor that change records name: [change.Anonymous] if there is none.
func (c Caller) Author() change.Actor {
	if c.Actor == (change.Actor{}) {
		return change.Anonymous
	}
	return c.Actor
}
