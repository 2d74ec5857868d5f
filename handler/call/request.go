package call

import (
	"context"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
)

// Request is a request for an operation, as a transport received it.
type Request struct {
	Credentials
	IfMatch       string // raw header value
	IfNoneMatch   string // raw header value
	WriteMessage  string // raw header value of Guidon-Message; only if the operation takes it
	DryRun        string // raw header value of Guidon-Dry-Run; only if the operation changes anything
	CacheControl  string // raw header value
	MinRevision   string // raw header value of Guidon-Min-Revision
	ClientVersion string // raw header value: the server version that the client was made for
	MayBeStale    bool   // memory may answer while the database does not, as with [ServesStale]
	RequestID     string // replaced if it is not fit for a log, before Source is called
	Trace         TraceHeader
	Transport     string // "http", "grpc" or "local"
	Namespace     string // that of the path, until the message has been read
	Message       proto.Message
	Payload       any               // data that the operation needs besides Message or instead of it, see [Confined]
	Rejected      error             // why the query of a step of signing in is refused, or nil
	Source        Source            // if neither is known yet: they are read once the caller is known
	Sender        Sender            // whose requests and failed credentials are limited; nil for none
	Actor         *change.Actor     // set only by trusted callers in this process: skips authentication
	Memory        limit.Reservation // for the response, until the client has received it
	Turn          *limit.Turn       // for heavy operations; it ends when the response has been encoded
	stored        int64             // how many stored bytes were admitted, see Admit
	at            service.Moment    // the state that the request is about; zero is the current one
	with          service.Moment    // of the namespace that it is compared with, if any
	Pieces        bool              // the response may be written in pieces instead of as a message
}

// Confined is a Payload that decides itself about the namespace of the request.
type Confined interface {
	// About returns the namespace that is most likely meant, or "" for none.
	About() string
	// Confine restricts the request to what a token that is limited to the namespace
	// may reach, or returns why that is refused.
	Confine(namespace string) error
}

// confined returns the payload if it decides about the namespace, or nil.
func (r *Request) confined() Confined {
	if r.Payload == nil {
		return nil
	}
	c, _ := r.Payload.(Confined)
	return c
}

// about returns the namespace that the request is about, or "" if there is none.
// For a batch it is that of the first item. Before the message has been read, it is the
// namespace of the path or, without one, the default namespace.
func (r *Request) about() string {
	if c := r.confined(); c != nil {
		return c.About()
	}
	if r.Message == nil {
		key, _ := service.ReferenceKey(r.Namespace)
		return guidon.NamespaceKey(key)
	}
	for namespace := range namespaces(r.Message) {
		return namespace
	}
	return ""
}

// Reserve resizes the reservation for the response to n bytes. Small responses need none.
func (r *Request) Reserve(ctx context.Context, n int64) error {
	if n <= limit.SmallBudget {
		n = 0
	}
	return r.Memory.Resize(ctx, n)
}

// Response is the response of an operation. If there is an error, only RequestID, the
// State, SetCookie and SignIn are set.
type Response struct {
	service.State
	RequestID string

	Message proto.Message
	Memory  Releaser // of Message, if it is pooled
	Answer  any      // instead of Message, if the request allows that: an [InPieces], or what the form of the operation knows

	ETag        string // of a response that supports IfNoneMatch
	NotModified bool   // the ETag matches IfNoneMatch: Message is empty

	SignIn *SignIn // of an attempt to sign in or out, otherwise nil

	SetCookie   []string // values of the header Set-Cookie over HTTP
	EndsSession bool     // SetCookie also gets the values that clear the cookies of a session
}

// Release allows the memory of Message to be reused. A transport may call it once, after
// encoding Message, and must not use Message afterwards.
func (r *Response) Release() {
	if r.Memory != nil {
		r.Memory.Release()
	}
	r.Message, r.Memory = nil, nil
}

// Releaser is memory that returns to a pool.
type Releaser interface{ Release() }

// InPieces is a response that is not in memory as a whole.
type InPieces interface {
	// WriteJSON writes the JSON of the response, indented if pretty is set.
	WriteJSON(out io.Writer, pretty bool) error
}

// Whole is a response that is encoded as a whole, during the turn of a heavy operation:
// encoding it in pieces would take much memory for as long as the client reads.
type Whole struct{ InPieces }

const (
	// MaxWhole is the size up to which a response is sent as a whole, in bytes.
	MaxWhole = 64 << 10
	// MaxGRPCResponse limits a message that contains a whole namespace, in bytes: both
	// the server and the client hold all of it in memory.
	MaxGRPCResponse = 64 << 20
)

// Call is one call of an operation: who makes it and what it requires.
type Call struct {
	Caller  service.Caller
	Demand  service.Demand
	IfMatch *int64        // the revision that a write requires, or nil
	Message string        // why a write is made, or ""
	DryRun  bool          // a write is checked and answered, and not stored
	Age     time.Duration // of the tokens that identified the caller; 0 unless they are stale
	Span    Span          // of the operation, or nil if it is not traced
	Until   time.Time     // when the caller's capability ends, or zero
}

// Write returns on whose behalf, under which condition and why the call changes something.
func (c *Call) Write() service.Write {
	return service.Write{By: c.Caller, IfMatch: c.IfMatch, Message: c.Message, DryRun: c.DryRun}
}
