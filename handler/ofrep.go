package handler

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
)

// The OpenFeature Remote Evaluation Protocol is beside the table: it has errors
// of its own, contexts that no message holds, and no gRPC. Its calls are
// operations all the same, so that who, may they and how long are decided in one
// place.

// The paths of OFREP. One may begin with a slash too many, because clients join
// it to a base URL that ends in one, and end in one (OFREP 1).
const (
	ofrepPrefix        = "/ofrep"
	ofrepConfiguration = ofrepPrefix + "/v1/configuration"
	ofrepFlags         = ofrepPrefix + "/v1/evaluate/flags"
	ofrepFlag          = ofrepFlags + "/{key}"
)

// ofrepBodyLimit bounds the body of a request, and maxOFREPAnswer what a bulk
// answer may grow to, in bytes.
const (
	ofrepBodyLimit = 1 << 20
	maxOFREPAnswer = 64 << 20
)

// ofrepVary is which headers of a request shape the answer.
const ofrepVary = "Authorization, X-API-Key, X-Flipt-Namespace, X-Guidon-Namespace"

// ofrepOperations are the calls of OFREP.
var ofrepOperations = []*Operation{
	ofrepOp(post, ofrepFlag, (*Handler).ofrepEvaluate).servesStale(),
	ofrepOp(post, ofrepFlags, (*Handler).ofrepEvaluateAll).servesStale(),
	ofrepOp(get, ofrepConfiguration, (*Handler).ofrepConfigure),
}

func ofrepOp(method, path string, fn func(h *Handler, ctx context.Context, request *Request) (Response, error)) *Operation {
	return &Operation{Name: path, Routes: only(method, path), Area: AreaOFREP, limits: Limits{Bytes: ofrepBodyLimit}, run: fn}
}

// ofrepRequest is what a call of OFREP asks.
type ofrepRequest struct {
	namespace string // empty where the request names none
	flag      string // of the single call
	refetch   bool   // of a change: that is why the client asks
	context   codec.EvaluationContext
	buf       []byte // for the answer
}

// ofrepRequests are used again: see release.
var ofrepRequests = sync.Pool{New: func() any { return new(ofrepRequest) }}

// release empties the request for another one.
func (q *ofrepRequest) release() {
	*q = ofrepRequest{context: codec.EvaluationContext{Properties: emptied(q.context.Properties)}}
	ofrepRequests.Put(q)
}

// GetNamespaceKey, GetFlagKey and GetEntityId are for the observer.
func (q *ofrepRequest) GetNamespaceKey() string { return q.namespace }
func (q *ofrepRequest) GetFlagKey() string      { return q.flag }
func (q *ofrepRequest) GetEntityId() string     { return q.context.TargetingKey }

// bind limits the request to what a token that is limited to a namespace
// reaches, which is also the namespace that is meant when none is named
// (OFREP 10).
func (q *ofrepRequest) bind(a *guidon.Authentication) error {
	namespace, limited := a.Scope()
	switch {
	case !limited:
	case q.namespace == "":
		q.namespace = namespace
	case q.namespace != namespace:
		return guidon.Errorf(guidon.PermissionDenied, "permission denied: the token is limited to another namespace")
	}
	return nil
}

// serveOFREP decodes the request, carries it out and answers.
func (h *Handler) serveOFREP(x *exchange, o *Operation) {
	header := x.Header()
	x.set(header, "Cache-Control", "no-store") // no cache knows how to keep what a POST answers (OFREP 6)
	if h.cors == nil {
		x.set(header, "Vary", ofrepVary+", Origin")
	} else { // which has said Origin
		header["Vary"] = append(header["Vary"], ofrepVary)
	}
	ctx, cancel, err := x.withGRPCTimeout()
	if err != nil {
		x.replyError(err)
		return
	}
	defer cancel()
	request := &x.asked
	*request = Request{
		reserved:      request.reserved,
		Authorization: ofrepCredential(x.request.Header),
		Cookie:        x.request.Header["Cookie"],
		IfNoneMatch:   strings.Join(x.request.Header["If-None-Match"], ","),
		CacheControl:  strings.Join(x.request.Header["Cache-Control"], ","),
		MinRevision:   strings.Join(x.request.Header[minRevisionHeader], ","),
		Source:        x,
		ofrep:         x.newOFREPRequest(),
	}
	if o.Name == ofrepFlags && x.isRefetch() {
		request.CacheControl, request.ofrep.refetch = "no-cache", true
	}
	response, err := h.invoke(ctx, o, request, &x.work, &x.event)
	request.ofrep.release()
	h.setStateHeaders(x, response)
	if err != nil {
		x.replyError(err)
		return
	}
	if response.ETag != "" {
		x.set(header, "Etag", `W/"`+response.ETag+`"`)
	}
	if response.NotModified {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	x.keep(response.data)
	x.reply(http.StatusOK, contentJSON, response.data)
}

// isRefetch tells whether an event made the client ask: then this instance
// must not answer from before what was told of, which the database has (OFREP 2).
func (x *exchange) isRefetch() bool {
	if !strings.Contains(x.request.URL.RawQuery, "flagConfig") {
		return false
	}
	query := x.request.URL.Query()
	return query.Has("flagConfigEtag") || query.Has("flagConfigLastModified")
}

// ofrepKey returns the flag key of the path, whatever is in it, or nothing.
func ofrepKey(path string) string {
	key, ok := strings.CutPrefix(routePath(path), ofrepFlags+"/")
	if !ok {
		return ""
	}
	return key
}

// ofrepCredential returns the Authorization header, or what X-API-Key says in
// its place (OFREP 10).
func ofrepCredential(header http.Header) []string {
	if authorization := header["Authorization"]; len(authorization) > 0 {
		return authorization
	}
	if key := first(header, "X-Api-Key"); key != "" {
		return []string{"Bearer " + key}
	}
	return nil
}

// newOFREPRequest returns what path and header say of the request.
func (x *exchange) newOFREPRequest() *ofrepRequest {
	q := ofrepRequests.Get().(*ofrepRequest)
	q.namespace, q.flag = x.ofrepNamespace(), ofrepKey(x.request.URL.Path)
	return q
}

// receiveOFREP reads the rest of the request from the body, and leaves the buffer to
// the answer.
func (x *exchange) receiveOFREP(ctx context.Context, o *Operation, q *ofrepRequest, limits Limits) error {
	if o.Routes[0].Method == post {
		body, err := x.readBody(ctx, limits.Bytes)
		if err != nil {
			return withOFREPCode(err, ofrepParseError)
		}
		q.context, err = codec.UnmarshalContext(body, q.context.Properties)
		switch {
		case errors.Is(err, codec.ErrContext):
			return withOFREPCode(err, ofrepInvalidContext)
		case err != nil:
			return withOFREPCode(err, ofrepParseError)
		}
		x.releaseBody()
	}
	q.buf = x.buffer()
	return nil
}

// ofrepNamespace returns the namespace that a header names or, for clients that
// can only be given a URL, the query.
func (x *exchange) ofrepNamespace() string {
	for _, name := range []string{"X-Guidon-Namespace", "X-Flipt-Namespace"} {
		if namespace := first(x.request.Header, name); namespace != "" {
			return namespace
		}
	}
	query := x.request.URL.RawQuery
	if query == "" {
		return ""
	}
	if namespace, only := strings.CutPrefix(query, "namespace="); only && !strings.ContainsAny(namespace, "&;%+") {
		return namespace // is what the query says, too, with less ado
	}
	return x.request.URL.Query().Get("namespace")
}

// ofrepCapabilities is a document that the protocol had once and that old tools
// still ask for (OFREP 9).
const ofrepCapabilities = `{"name":"guidon","capabilities":{` +
	`"cacheInvalidation":{"polling":{"enabled":true,"minPollingIntervalMs":1000}},` +
	`"flagEvaluation":{"supportedTypes":["boolean","string","int","float","object"]}}}`

func (h *Handler) ofrepConfigure(_ context.Context, request *Request) (Response, error) {
	return Response{data: append(request.ofrep.buf, ofrepCapabilities...)}, nil
}
