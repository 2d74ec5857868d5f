// Package call runs operations of every transport: it defines operations and the roles
// that they need, identifies the caller, checks the conditions of the request, limits
// its time, and logs it.
//
// [Read], [List], [Change] and the like (operation_kinds.go) make an [Operation] from a function that knows
// neither HTTP nor gRPC: it gets a [service.View], or the service and a [service.Write].
// An [Invoker] runs operations. Their requests and responses are messages, or what the
// format of an operation has instead, see [Confined] and [InPieces].
package call
