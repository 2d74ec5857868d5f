package call

import "google.golang.org/protobuf/proto"

// Writing marks an operation that changes a namespace, although it was made by [Ask].
func (o *Operation) Writing() *Operation {
	o.effect = writes
	return o
}

// Issuing marks an operation that changes authentications, although it was made by [Ask].
func (o *Operation) Issuing() *Operation {
	o.effect = issues
	return o
}

// Reporting marks an operation that adds to counts, which have no revision.
func (o *Operation) Reporting() *Operation {
	o.effect = reports
	return o
}

// SigningInOrOut marks an operation that starts or ends a session.
func (o *Operation) SigningInOrOut() *Operation {
	o.signs = true
	return o
}

// KeepingSession marks an operation whose failures say nothing about the session of the
// browser, such as a sign-in: a page could otherwise sign its visitors
// out by a request that must fail.
func (o *Operation) KeepingSession() *Operation {
	o.keepsSession = true
	return o
}

// Private marks an operation whose response no cache may store, although it is not in
// [AreaAuthentication].
func (o *Operation) Private() *Operation {
	o.private = true
	return o
}

// EnabledIf disables the operation unless it is enabled. Only trusted callers of this
// process can call a disabled one.
func (o *Operation) EnabledIf(enabled bool) *Operation {
	o.disabled = !enabled
	return o
}

// InQuery makes the request come in the query string whatever the method.
func (o *Operation) InQuery() *Operation {
	o.queryOnly = true
	return o
}

// WithVersions makes the response have an ETag and depend on the client version.
func (o *Operation) WithVersions() *Operation {
	o.versioned = true
	return o
}

// ServingStale makes the operation available from memory while the database is not.
func (o *Operation) ServingStale() *Operation {
	o.stale = true
	return o
}

// Evaluating marks an operation that evaluates flags outside [AreaEvaluation].
func (o *Operation) Evaluating() *Operation {
	o.evaluation = true
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
