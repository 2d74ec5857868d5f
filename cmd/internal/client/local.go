package client

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
)

// local invokes operations of a handler in the same process.
type local struct {
	handler *handler.Handler
	actor   change.Actor
	close   func() error
}

// NewLocal returns a client that invokes the handler as the trusted actor. Close calls
// close once, unless it is nil.
func NewLocal(h *handler.Handler, actor change.Actor, close func() error) Client {
	return &local{handler: h, actor: actor, close: close}
}

// Invoke implements Client.
func (l *local) Invoke(ctx context.Context, method string, request, response proto.Message) error {
	o, err := operation(method)
	if err != nil {
		return err
	}
	actor, added := l.actor, headers(ctx)
	result, err := l.handler.Invoke(ctx, o, call.Request{
		Message: request, Transport: "local", Actor: &actor,
		IfMatch: added.Get("If-Match"), WriteMessage: added.Get(call.MessageHeader), DryRun: added.Get(call.DryRunHeader),
	})
	if err != nil {
		return err
	}
	// Nothing else uses the result, so it is moved rather than copied.
	proto.Reset(response)
	if into, from := response.ProtoReflect(), result.Message.ProtoReflect(); into.Descriptor() == from.Descriptor() {
		for field, value := range from.Range {
			into.Set(field, value)
		}
		return nil
	}
	proto.Merge(response, result.Message)
	return nil
}

// Close implements Client.
func (l *local) Close() error {
	if l.close == nil {
		return nil
	}
	close := l.close
	l.close = nil
	return close()
}
