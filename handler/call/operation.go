package call

import (
	"context"
	"io"
	"net/http"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/service"
)

// Route is a method and a path of an operation. Pattern is in chi's syntax; its
// variables are fields of the request message, in snake_case.
type Route struct{ Method, Pattern string }

// Variables returns the names of the pattern's variables, in order.
func (r Route) Variables() []string {
	var names []string
	for _, part := range strings.Split(r.Pattern, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// Area is the part of the API that an operation belongs to for authentication
// (operations 1.2).
type Area uint8

// The areas and when they are exempt from authentication.
const (
	AreaManagement     Area = iota // exempt if management is excluded
	AreaEvaluation                 // exempt if evaluation is excluded
	AreaAuthentication             // tokens and the caller itself: never exempt
	AreaPublic                     // always exempt
	AreaMeta                       // information about the instance: never exempt
	AreaOFREP                      // exempt if OFREP is excluded
	AreaWebhooks                   // what sends to URLs of the caller's choice: never exempt
)

// Operation is an operation of the API: over both HTTP and gRPC or, if it has no
// messages, over HTTP only. It is immutable.
type Operation struct {
	Name   string // full gRPC name, "/flipt.Flipt/CreateFlag"; without messages the path
	Routes []Route
	Area   Area

	disabled       bool
	traits         Trait
	need           need
	cost           cost
	lightIf        func(m proto.Message) bool // nil if all requests cost the same
	limits         Limits
	long           *LongBody            // nil if no body is long
	newRequest     func() proto.Message // nil if there are no messages
	releaseRequest func(proto.Message)  // nil if requests are not pooled
	newResponse    func() proto.Message
	run            Func
}

// Func runs an operation for an authorized caller. The State of its response is also set
// if there is an error, as far as it is known.
type Func func(ctx context.Context, s *service.Service, c *Call, request *Request) (Response, error)

// LongBody is how an operation decodes a body over HTTP that is too long to be decoded as
// a whole.
type LongBody struct {
	Whole   int64 // the longest body that is decoded as a whole, in bytes
	TooLong error // for a body that exceeds the limit of the operation
	// Decode decodes the body while it reads it: into m, and into what becomes the
	// request's Payload.
	Decode func(body io.Reader, m proto.Message) (payload any, err error)
}

// Enabled reports whether others than trusted callers of this process can call the
// operation.
func (o *Operation) Enabled() bool { return !o.disabled }

// HasMessages reports whether requests and responses are messages, so that the operation
// is available over gRPC too.
func (o *Operation) HasMessages() bool { return o.newRequest != nil }

// LongBody returns how a long body is decoded, or nil if there is none.
func (o *Operation) LongBody() *LongBody { return o.long }

// NewRequest returns an empty request message.
func (o *Operation) NewRequest() proto.Message { return o.newRequest() }

// Release returns a request message to the pool. A transport may call it once for a
// message returned by [Operation.NewRequest]. Afterwards only the strings of the message
// may be used.
func (o *Operation) Release(m proto.Message) {
	if o.releaseRequest != nil {
		o.releaseRequest(m)
	}
}

// NewResponse returns an empty response message.
func (o *Operation) NewResponse() proto.Message { return o.newResponse() }

// Service returns the full name of the gRPC service, "flipt.Flipt".
func (o *Operation) Service() string {
	return o.Name[1:strings.LastIndexByte(o.Name, '/')]
}

// Method returns the name of the gRPC method, "CreateFlag".
func (o *Operation) Method() string {
	return o.Name[strings.LastIndexByte(o.Name, '/')+1:]
}

// Changes reports whether the operation changes a namespace, authentications or counts.
func (o *Operation) Changes() bool { return o.Has(Writes | Issues | Reports) }

// TakesMessage reports whether the header Guidon-Message applies: the operation changes
// something other than a session.
func (o *Operation) TakesMessage() bool {
	return o.Has(Writes|Issues) && !o.Has(SignsInOrOut|KeepsSession)
}

// RejectsUnknown reports whether a field of the request that the service does not know is an
// error. It may be a misspelled one, which must neither widen what the request grants nor
// change a flag without notice. In the messages of Flipt v1 that grant nothing it is ignored,
// because clients of Flipt may send it.
func (o *Operation) RejectsUnknown(m proto.Message) bool {
	if tolerant, ok := m.(interface{ GetIgnoreUnknown() bool }); ok && tolerant.GetIgnoreUnknown() {
		return false
	}
	return o.Has(Issues) || strings.HasPrefix(o.Name, "/guidon.v1.")
}

// Evaluates reports whether the operation serves the evaluation of flags.
func (o *Operation) Evaluates() bool {
	return o.Has(Evaluates) || o.Area == AreaEvaluation || o.Area == AreaOFREP
}

// HasBody reports whether the request of the route is in the body. Otherwise it is in
// the query string. Path variables override both.
func (o *Operation) HasBody(route Route) bool {
	return !o.Has(InQuery) && (route.Method == http.MethodPost || route.Method == http.MethodPut)
}
