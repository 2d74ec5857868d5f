package ofrep

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/service"
)

// The paths of OFREP. A request may have an extra leading slash, because clients append
// the path to a base URL that ends in one, and a trailing slash (OFREP 1).
const (
	Prefix            = "/ofrep"
	ConfigurationPath = Prefix + "/v1/configuration"
	FlagsPath         = Prefix + "/v1/evaluate/flags"
	FlagPath          = FlagsPath + "/{key}"
)

// The largest request body and the largest bulk response, in bytes.
const (
	bodyLimit = 1 << 20
	maxAnswer = 64 << 20
)

// vary names the request headers that affect the response.
const vary = "Authorization, X-API-Key, X-Flipt-Namespace, X-Guidon-Namespace"

// Protocol runs the operations of OFREP. It is safe for concurrent use.
type Protocol struct {
	evaluator *evaluation.Evaluator
	streams   *stream.Hub // nil if there are no event streams
	protected bool        // requests need a credential
	now, tick func() time.Time
}

// NewProtocol returns a Protocol. streams may be nil. protected states that requests need
// a credential.
func NewProtocol(evaluator *evaluation.Evaluator, streams *stream.Hub, protected bool, now, tick func() time.Time) *Protocol {
	return &Protocol{evaluator: evaluator, streams: streams, protected: protected, now: now, tick: tick}
}

// NewOperation returns an operation of OFREP, to be served in [Form].
func NewOperation(
	method, path string,
	run func(ctx context.Context, s *service.Service, c *call.Call, q *Request, request *call.Request) (call.Response, error),
) *call.Operation {
	return call.NewOperation(call.Route{Method: method, Pattern: path}, call.AreaOFREP, bodyLimit,
		func(ctx context.Context, s *service.Service, c *call.Call, request *call.Request) (call.Response, error) {
			return run(ctx, s, c, request.Payload.(*Request), request)
		})
}

// Request is a decoded OFREP request. It is the Payload of requests.
type Request struct {
	namespace string // empty if the request names none
	flag      string // empty in a bulk request
	refetch   bool   // sent because of a change event
	context   codec.EvaluationContext
	x         *exchange.Exchange
	answer    body
}

// body is the Answer of an operation. It is part of the request to save an allocation.
type body struct{ content []byte }

var requestPool = sync.Pool{New: func() any { return new(Request) }}

// release empties the request and returns it to the pool.
func (q *Request) release() {
	*q = Request{context: codec.EvaluationContext{Properties: evaluation.Emptied(q.context.Properties)}}
	requestPool.Put(q)
}

// GetNamespaceKey, GetFlagKey and GetEntityId implement [evaluation.Evaluated].

func (q *Request) GetNamespaceKey() string { return q.namespace }
func (q *Request) GetFlagKey() string      { return q.flag }
func (q *Request) GetEntityId() string     { return q.context.TargetingKey }

// About implements [call.Confined].
func (q *Request) About() string { return guidon.NamespaceKey(q.namespace) }

// Confine implements [call.Confined]: the namespace is the default of a token that is
// limited to it, and any other is denied (OFREP 10).
func (q *Request) Confine(namespace string) error {
	switch q.namespace {
	case "":
		q.namespace = namespace
	case namespace:
	default:
		return guidon.Errorf(guidon.PermissionDenied, "permission denied: the token is limited to another namespace")
	}
	return nil
}

// Form is the form of OFREP.
var Form exchange.Form = form{}

type form struct{}

// Serve implements [exchange.Form].
func (form) Serve(x *exchange.Exchange, o *call.Operation) {
	header := x.Header()
	x.Set("Cache-Control", "no-store") // caches cannot key the response to a POST (OFREP 6)
	if len(header["Vary"]) == 0 {
		x.Set("Vary", vary+", Origin")
	} else { // CORS has added Origin
		header["Vary"] = append(header["Vary"], vary)
	}
	ctx, cancel, err := x.Context()
	if err != nil {
		x.ReplyError(err)
		return
	}
	defer cancel()
	q := newRequest(x)
	x.Call = call.Request{
		Credentials:  credentials(x.Request.Header),
		IfNoneMatch:  strings.Join(x.Request.Header["If-None-Match"], ","),
		CacheControl: strings.Join(x.Request.Header["Cache-Control"], ","),
		MinRevision:  strings.Join(x.Request.Header[call.MinRevisionHeader], ","),
		Source:       q,
		Payload:      q,
		Memory:       x.Call.Memory,
	}
	if q.refetch {
		x.Call.CacheControl = "no-cache"
	}
	response, err := x.Carry(ctx, o)
	var content []byte
	if answer, ok := response.Answer.(*body); ok {
		content = answer.content
	}
	q.release()
	if err != nil {
		x.ReplyError(err)
		return
	}
	if response.ETag != "" {
		x.Set("Etag", `W/"`+response.ETag+`"`)
	}
	if response.NotModified {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	x.Keep(content)
	x.Reply(http.StatusOK, exchange.ContentJSON, content)
}

// isRefetch reports whether the client sent a bulk request because of a change event. The
// response must then include that change, which is in the database (OFREP 2).
func isRefetch(x *exchange.Exchange) bool {
	if !strings.Contains(x.Request.URL.RawQuery, "flagConfig") {
		return false
	}
	query := x.Request.URL.Query()
	return query.Has("flagConfigEtag") || query.Has("flagConfigLastModified")
}

// flagKey returns the flag key in the path, slashes included, or "" if there is none.
func flagKey(x *exchange.Exchange) string {
	key, ok := strings.CutPrefix(x.Path(), FlagsPath+"/")
	if !ok {
		return ""
	}
	return key
}

// credentials returns the credentials of a request. Without an Authorization header,
// the key in X-API-Key is a bearer token (OFREP 10).
func credentials(header http.Header) call.Credentials {
	c := call.Credentials{Authorization: header["Authorization"], Cookie: header["Cookie"]}
	if key := exchange.First(header, "X-Api-Key"); key != "" && len(c.Authorization) == 0 {
		c.Authorization = []string{"Bearer " + key}
	}
	return c
}

// newRequest returns a request with the data from the URL and the headers.
func newRequest(x *exchange.Exchange) *Request {
	q := requestPool.Get().(*Request)
	q.x, q.flag = x, flagKey(x)
	q.refetch = q.flag == "" && isRefetch(x)
	return q
}

// Receive implements [call.Source]. It reads the namespace, and the context from the body.
// The buffer of the body is then free for the response.
func (q *Request) Receive(ctx context.Context, o *call.Operation, _ *call.Request, limits call.Limits) (err error) {
	if q.namespace, err = namespaceIn(q.x); err != nil {
		return err
	}
	if o.Routes[0].Method == http.MethodPost {
		body, err := q.x.ReadBody(ctx, limits.Bytes)
		if err != nil {
			return withCode(err, codeParseError)
		}
		q.context, err = codec.UnmarshalContext(body, q.context.Properties)
		switch {
		case errors.Is(err, codec.ErrContext):
			return withCode(err, codeInvalidContext)
		case err != nil:
			return withCode(err, codeParseError)
		}
		q.x.ReleaseBody()
	}
	q.answer.content = q.x.Buffer()
	return nil
}

// reply returns the response with the body.
func (q *Request) reply(state service.State, body []byte) call.Response {
	q.answer.content = body
	return call.Response{State: state, Answer: &q.answer}
}

// namespaceIn returns the namespace named in a header or, for clients that can only
// be configured with a URL, in the query.
func namespaceIn(x *exchange.Exchange) (string, error) {
	for _, name := range []string{"X-Guidon-Namespace", "X-Flipt-Namespace"} {
		if namespace := exchange.First(x.Request.Header, name); namespace != "" {
			return namespace, nil
		}
	}
	query := x.Request.URL.RawQuery
	if query == "" {
		return "", nil
	}
	if namespace, only := strings.CutPrefix(query, "namespace="); only && !strings.ContainsAny(namespace, "&;%+") {
		return namespace, nil // the same as below, at less cost
	}
	values, err := x.Query()
	if len(values["namespace"]) > 1 {
		return "", guidon.Errorf(guidon.InvalidArgument, `too many values for parameter "namespace"`)
	}
	namespace := values.Get("namespace")
	if namespace != "" || !strings.Contains(query, "namespace=") {
		err = nil // what is malformed is another parameter, and ignored
	}
	return namespace, err
}

// capabilities is a document that was once part of the protocol and that old tools
// still request (OFREP 9).
const capabilities = `{"name":"guidon","capabilities":{` +
	`"cacheInvalidation":{"polling":{"enabled":true,"minPollingIntervalMs":1000}},` +
	`"flagEvaluation":{"supportedTypes":["boolean","string","int","float","object"]}}}`

// Configure answers with the capabilities.
func (p *Protocol) Configure(_ context.Context, _ *service.Service, _ *call.Call, q *Request, _ *call.Request) (call.Response, error) {
	return q.reply(service.State{}, append(q.answer.content, capabilities...)), nil
}
