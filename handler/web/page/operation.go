package page

import (
	"errors"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

// Operation is an operation of the API that pages run, by the name of its gRPC method, such
// as "/flipt.Flipt/GetFlag". Q is its request, A its response.
type Operation[Q, A proto.Message] string

// Run runs the operation for the visitor. The errors are those of the operation. It panics
// if the service has no such operation.
func (o Operation[Q, A]) Run(v *Visit, request Q) (A, error) {
	answer, _, err := o.RunAt(v, request)
	return answer, err
}

// RunAt is like Run, and also returns the state of the namespace that was read or written. To
// pages, FailedPrecondition means that something has changed, so they show
// [service.ErrAdditions] like what else cannot be saved.
func (o Operation[Q, A]) RunAt(v *Visit, request Q) (A, service.State, error) {
	return o.carry(v, &call.Request{Message: request, MayBeStale: !v.sends()})
}

// RunIf is like Run, but fails with FailedPrecondition unless the namespace of the request
// is in the state, as an earlier operation returned it.
func (o Operation[Q, A]) RunIf(v *Visit, request Q, state service.State) (A, error) {
	answer, _, err := o.carry(v, &call.Request{Message: request, IfMatch: Revision(state.Revision)})
	return answer, err
}

func (o Operation[Q, A]) carry(v *Visit, request *call.Request) (A, service.State, error) {
	request.Credentials = v.credentials()
	response, err := v.Site.Carry(v.Exchange, string(o), request)
	var answer A
	if err == nil && response.Message != nil {
		answer = response.Message.(A)
	}
	if errors.Is(err, service.ErrAdditions) {
		err = &guidon.Error{Code: guidon.InvalidArgument, Message: guidon.PublicMessage(err)}
	}
	return answer, response.State, err
}

// Enabled reports whether the service has the operation with the name.
func (s *Site) Enabled(name string) bool {
	operation := s.operations[name]
	return operation != nil && operation.Enabled()
}

// Carry runs the operation with the name for a request, and sets the cookies of the
// response. It panics if there is no such operation.
func (s *Site) Carry(x *exchange.Exchange, name string, request *call.Request) (call.Response, error) {
	o := s.operations[name]
	if o == nil {
		panic("page: there is no operation " + name)
	}
	request.Sender, request.RequestID, request.Transport = x, x.Event.RequestID, "http"
	response, err := x.CarryAgain(x.Request.Context(), o, request)
	for _, cookie := range response.SetCookie {
		x.Header().Add("Set-Cookie", cookie)
	}
	return response, err
}
