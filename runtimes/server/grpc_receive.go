package server

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
)

// receive receives the message of a call. Where that fails it returns the status
// for the caller, and has told about the call.
func (c *calls) receive(ctx context.Context, o *handler.Operation, in *inbound, receive func(any) error) error {
	start := time.Now()
	w := c.watch(ctx, o, start)
	err := receive(in)
	if answer := w.end(); answer != nil {
		return answer
	}
	if err == nil {
		err = in.err
	}
	if err != nil {
		return c.refuse(ctx, o, err, time.Since(start))
	}
	return nil
}

// watch refuses a call whose message does not arrive in time: grpc-go waits
// without a bound for one that a client has announced and does not send. It sees
// by itself when the caller goes away.
type watch struct {
	timer  *time.Timer
	told   sync.WaitGroup
	answer error // what the caller was told
}

func (c *calls) watch(ctx context.Context, o *handler.Operation, start time.Time) *watch {
	w := &watch{}
	w.told.Add(1)
	w.timer = time.AfterFunc(c.receiveTimeout, func() {
		defer w.told.Done()
		defer c.recoverAs(o.Name, &w.answer)
		late := guidon.Errorf(guidon.DeadlineExceeded, "the request message did not arrive within %s", c.receiveTimeout)
		w.answer = c.refuse(ctx, o, late, time.Since(start))
		endStream(ctx, w.answer)
	})
	return w
}

// end ends the watch, and returns what the caller has been told if that was in
// vain.
func (w *watch) end() error {
	if w.timer.Stop() {
		return nil
	}
	w.told.Wait()
	return w.answer
}

// endStream answers the call while its message is still being received, which
// ends that. Every stream of grpc-go has this method, although none of its
// interfaces does; a read in another goroutine would do without, and cost each
// call more than its evaluation.
func endStream(ctx context.Context, answer error) {
	if stream, ok := grpc.ServerTransportStreamFromContext(ctx).(interface{ WriteStatus(*status.Status) error }); ok {
		_ = stream.WriteStatus(status.Convert(answer)) // it fails where the caller is gone
	}
}
