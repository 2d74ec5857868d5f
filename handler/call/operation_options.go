package call

import "google.golang.org/protobuf/proto"

// Trait is something special about an operation. Several are combined by |.
type Trait uint16

// The traits.
const (
	Writes             Trait = 1 << iota // changes a namespace: If-Match applies
	Issues                               // changes authentications: If-Match does not apply
	Reports                              // adds to counts of evaluations: neither If-Match nor a dry run applies
	Evaluates                            // serves the evaluation of flags outside AreaEvaluation and AreaOFREP
	ServesStale                          // can be served from memory, with its age, while the database is unavailable
	Versioned                            // the response has an ETag, and depends on the version of the client
	Existing                             // the namespace must exist
	ReadsStates                          // the request may name a state of its namespace by a reference
	InQuery                              // the request is in the query string whatever the method
	Private                              // no cache may store the response, although the area is not AreaAuthentication
	SignsInOrOut                         // starts or ends a session: pages of other origins must never send it
	VerifiesCredential                   // does not run for senders of too many that failed, because it takes much work
	// KeepsSession: failures, such as those of a sign-in, say nothing about the session of the browser. Otherwise a page
	// could sign its visitors out by a request that must fail.
	KeepsSession
)

// With adds traits to the operation.
func (o *Operation) With(traits Trait) *Operation {
	o.traits |= traits
	return o
}

// Has reports whether the operation has one of the traits.
func (o *Operation) Has(traits Trait) bool { return o.traits&traits != 0 }

// EnabledIf disables the operation unless it is enabled. Only trusted callers of this
// process can call a disabled one.
func (o *Operation) EnabledIf(enabled bool) *Operation {
	o.disabled = !enabled
	return o
}

// Reusing makes the operation take its request messages from a pool and release them.
func (o *Operation) Reusing(take func() proto.Message, release func(proto.Message)) *Operation {
	o.newRequest, o.releaseRequest = take, release
	return o
}

// Large replaces the limits of the request, which may have a long body.
func (o *Operation) Large(limits Limits, long LongBody) *Operation {
	o.limits, o.long = limits, &long
	return o
}
