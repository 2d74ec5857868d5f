package handler

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/service"
)

// The OpenFeature Remote Evaluation Protocol has its own error format, contexts that fit
// no message, and no gRPC.

// The paths of OFREP. A request may have an extra leading slash, because clients append
// the path to a base URL that ends in one, and a trailing slash (OFREP 1).
const (
	ofrepPrefix        = "/ofrep"
	ofrepConfiguration = ofrepPrefix + "/v1/configuration"
	ofrepFlags         = ofrepPrefix + "/v1/evaluate/flags"
	ofrepFlag          = ofrepFlags + "/{key}"
)

// The largest request body and the largest bulk response, in bytes.
const (
	ofrepBodyLimit = 1 << 20
	maxOFREPAnswer = 64 << 20
)

// ofrepVary names the request headers that affect the response.
const ofrepVary = "Authorization, X-API-Key, X-Flipt-Namespace, X-Guidon-Namespace"

// ofrep returns an operation of OFREP. Its path may end in a variable, which is then the
// rest of the path, slashes included.
func ofrep(method, path string, fn func(h *Handler, ctx context.Context, c *call, request *Request) (Response, error)) *Operation {
	return &Operation{
		Name: path, Routes: only(method, path), Area: AreaOFREP,
		form: (*Handler).serveOFREP, limits: Limits{Bytes: ofrepBodyLimit}, run: fn,
	}
}

// ofrepRequest is a decoded OFREP request.
type ofrepRequest struct {
	namespace string // empty if the request names none
	flag      string // empty in a bulk request
	refetch   bool   // sent because of a change event
	context   codec.EvaluationContext
	buf       []byte // for the response
}

var ofrepRequests = sync.Pool{New: func() any { return new(ofrepRequest) }}

// release empties the request and returns it to the pool.
func (q *ofrepRequest) release() {
	*q = ofrepRequest{context: codec.EvaluationContext{Properties: emptied(q.context.Properties)}}
	ofrepRequests.Put(q)
}

// GetNamespaceKey, GetFlagKey and GetEntityId implement evaluated.
func (q *ofrepRequest) GetNamespaceKey() string { return q.namespace }
func (q *ofrepRequest) GetFlagKey() string      { return q.flag }
func (q *ofrepRequest) GetEntityId() string     { return q.context.TargetingKey }

// bind applies the scope of a token that is limited to a namespace: that namespace is
// the default, and any other is denied (OFREP 10).
func (q *ofrepRequest) bind(a *service.Authentication) error {
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

// serveOFREP decodes and runs the request, and writes the response.
func (h *Handler) serveOFREP(x *exchange, o *Operation) {
	header := x.Header()
	x.set(header, "Cache-Control", "no-store") // caches cannot key the response to a POST (OFREP 6)
	if h.cors == nil {
		x.set(header, "Vary", ofrepVary+", Origin")
	} else { // which has added Origin
		header["Vary"] = append(header["Vary"], ofrepVary)
	}
	ctx, cancel, err := x.withGRPCTimeout()
	if err != nil {
		x.replyError(err)
		return
	}
	defer cancel()
	request := &x.opRequest
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

// isRefetch reports whether the client sent the request because of a change event. The
// response must then include that change, which is in the database (OFREP 2).
func (x *exchange) isRefetch() bool {
	if !strings.Contains(x.request.URL.RawQuery, "flagConfig") {
		return false
	}
	query := x.request.URL.Query()
	return query.Has("flagConfigEtag") || query.Has("flagConfigLastModified")
}

// ofrepKey returns the flag key in the path, slashes included, or "" if there is none.
func ofrepKey(path string) string {
	key, ok := strings.CutPrefix(routePath(path), ofrepFlags+"/")
	if !ok {
		return ""
	}
	return key
}

// ofrepCredential returns the Authorization header or, if there is none, the key in
// X-API-Key as a bearer token (OFREP 10).
func ofrepCredential(header http.Header) []string {
	if authorization := header["Authorization"]; len(authorization) > 0 {
		return authorization
	}
	if key := first(header, "X-Api-Key"); key != "" {
		return []string{"Bearer " + key}
	}
	return nil
}

// newOFREPRequest returns a request with the data from the URL and the headers.
func (x *exchange) newOFREPRequest() *ofrepRequest {
	q := ofrepRequests.Get().(*ofrepRequest)
	q.namespace, q.flag = x.ofrepNamespace(), ofrepKey(x.request.URL.Path)
	return q
}

// receiveOFREP reads the context from the body. The buffer of the body is then free for
// the response.
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

// ofrepNamespace returns the namespace named in a header or, for clients that can only
// be configured with a URL, in the query.
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
		return namespace // the same as Query().Get, at less cost
	}
	return x.request.URL.Query().Get("namespace")
}

// ofrepCapabilities is a document that was once part of the protocol and that old tools
// still request (OFREP 9).
const ofrepCapabilities = `{"name":"guidon","capabilities":{` +
	`"cacheInvalidation":{"polling":{"enabled":true,"minPollingIntervalMs":1000}},` +
	`"flagEvaluation":{"supportedTypes":["boolean","string","int","float","object"]}}}`

func (h *Handler) ofrepConfigure(_ context.Context, _ *call, request *Request) (Response, error) {
	return Response{data: append(request.ofrep.buf, ofrepCapabilities...)}, nil
}
