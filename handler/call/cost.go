package call

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
)

// cost is a class of the resources that an operation uses besides its request and response.
type cost uint8

const (
	_ cost = iota // every operation must state its cost
	light
	heavy
)

// Light states that the operation uses little: it answers from memory, or reads or writes a
// few objects.
func (o *Operation) Light() *Operation {
	o.cost = light
	return o
}

// Heavy states that what the operation uses depends on what is stored: it reads change
// records or whole namespaces, or analyzes flags. It runs in a turn of [limit.Heavy].
func (o *Operation) Heavy() *Operation {
	o.cost = heavy
	return o
}

// LightIf states that those requests for a heavy operation are light for which is returns true.
func (o *Operation) LightIf(is func(m proto.Message) bool) *Operation {
	o.lightIf = is
	return o
}

// Costs reports whether the operation is heavy, and whether its cost was stated.
func (o *Operation) Costs() (isHeavy, stated bool) { return o.cost == heavy, o.cost != 0 }

// isHeavy reports whether the request needs a turn. Every earlier state of a namespace is
// computed from change records.
func (o *Operation) isHeavy(request *Request) bool {
	return request.OfPast() || o.cost == heavy && (o.lightIf == nil || !o.lightIf(request.Message))
}

// costOfStored is how much memory it takes to work with a stored byte, in bytes: objects are
// decoded, compared and converted.
const costOfStored = 8

// Admit is the [service.Admit] of the request. It returns TooLarge if the operation can never
// have as much memory as stored bytes take.
func (r *Request) Admit(_ context.Context, stored int64) error {
	r.stored = max(r.stored, stored)
	room := r.Turn.Room()
	if stored <= room/costOfStored {
		return nil
	}
	return guidon.Errorf(guidon.TooLarge,
		"the objects of this request take %d MiB, of which %d MiB are allowed; raise server.request_memory_mib",
		stored>>20, room/costOfStored>>20)
}

// beginTurn waits for the turn of a heavy request, for up to half of the timeout. The rest is
// for the operation.
func (i *Invoker) beginTurn(ctx context.Context, o *Operation, request *Request) error {
	if !o.isHeavy(request) {
		return nil
	}
	return request.Turn.Begin(ctx, i.config.Timeout/2)
}
