package handler

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// installOperation registers a route of an operation. chi allows an empty variable
// between two slashes but not at the end of a path. A path that ends in a variable is
// therefore registered without it, too (contract 1.5).
func (h *Handler) installOperation(mux *chi.Mux, o *Operation, route Route) {
	variables := route.Variables()
	serve := func(x *exchange) { h.serveOperation(x, o, route, variables) }
	if o.form != nil {
		serve = func(x *exchange) { o.form(h, x, o) }
	}
	enter := h.entry(o.Name, route.Pattern, h.exposureOf(o), serve)
	if len(variables) == 0 {
		h.fast.exact[route] = enter
	}
	handle := func(pattern string) {
		mux.MethodFunc(route.Method, pattern, func(w http.ResponseWriter, _ *http.Request) { enter(w.(*exchange)) })
	}
	before := route.Pattern[:strings.LastIndexByte(route.Pattern, '{')+1]
	switch last := strings.HasSuffix(route.Pattern, "}"); {
	case last && o.Area == AreaOFREP: // the key is the rest of the path, slashes included
		handle(strings.TrimSuffix(before, "{") + "*")
		h.fast.flag = enter
	case last:
		handle(strings.TrimSuffix(before, "{"))
		fallthrough
	default:
		handle(route.Pattern)
	}
}

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

// serveOperation decodes and runs the request, and writes the response.
func (h *Handler) serveOperation(x *exchange, o *Operation, route Route, variables []string) {
	ctx, cancel, err := x.withGRPCTimeout()
	if err != nil {
		x.replyError(err)
		return
	}
	defer cancel()
	header := x.request.Header
	request := &x.opRequest
	*request = Request{
		reserved:      request.reserved,
		Authorization: header["Authorization"],
		Cookie:        header["Cookie"],
		IfMatch:       strings.Join(header["If-Match"], ","),
		CacheControl:  strings.Join(header["Cache-Control"], ","),
		MinRevision:   strings.Join(header[minRevisionHeader], ","),
		Source:        x,
		pieces:        true,
	}
	x.route, x.variables = route, variables
	if slices.Contains(variables, "namespace_key") {
		request.path = chi.URLParam(x.request, "namespace_key")
	}
	if o.versioned {
		request.IfNoneMatch = strings.Join(header["If-None-Match"], ",")
		request.ClientVersion = header.Get(clientVersionHeader)
	}
	response, err := h.invoke(ctx, o, request, &x.work, &x.event)
	if request.Message != nil {
		o.Release(request.Message)
	}
	h.setStateHeaders(x, response)
	if err != nil {
		x.replyError(err)
		return
	}
	if o.Area == AreaAuthentication {
		x.Header().Set("Cache-Control", "no-store")
	}
	if o.Name == expireSelfName {
		clearCookies(x.Header())
	}
	if o.versioned {
		x.replyVersioned(response)
		return
	}
	if response.write != nil {
		response.write(x)
		return
	}
	if isLarge(response.Message) {
		x.replyLargeMessage(response.Message)
	} else {
		x.replyMessage(response.Message)
	}
	response.Release()
}

// setStateHeaders sets the headers with the revision and the age of the response's data.
func (h *Handler) setStateHeaders(x *exchange, response Response) {
	if response.Revision > 0 {
		x.set(x.Header(), "Guidon-Revision", h.revisions.of(response.Revision))
	}
	if response.Age > 0 {
		x.Header().Set(staleHeader, StaleSeconds(response.Age))
	}
}

// Receive implements [Source].
func (x *exchange) Receive(ctx context.Context, o *Operation, request *Request, limits Limits) (err error) {
	if request.ofrep != nil {
		return x.receiveOFREP(ctx, o, request.ofrep, limits)
	}
	request.Message, err = x.decode(ctx, o, limits)
	return err
}

// decode returns the request message, from the body or the query. Path variables
// override both (contract 1.2).
func (x *exchange) decode(ctx context.Context, o *Operation, limits Limits) (proto.Message, error) {
	m := o.NewRequest()
	if im, ok := m.(*guidonv1.ImportRequest); ok && x.isLongImport(limits) {
		if err := x.decodeImport(ctx, im); err != nil {
			return nil, err
		}
	} else if o.HasBody(x.route) {
		body, err := x.readBody(ctx, limits.Bytes)
		if err != nil {
			return nil, err
		}
		if err := codec.Unmarshal(body, m, limits.Values); err != nil {
			return nil, err
		}
		x.releaseBody()
	} else if x.request.URL.RawQuery != "" {
		values, err := url.ParseQuery(x.request.URL.RawQuery)
		if err != nil {
			return nil, guidon.Errorf(guidon.InvalidArgument, "the query string is malformed")
		}
		if err := codec.UnmarshalQuery(values, m); err != nil {
			return nil, err
		}
	}
	for _, name := range x.variables {
		if err := codec.SetPathVariable(m, name, chi.URLParam(x.request, name)); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// readBody returns the body, which is valid until the next use of the buffer. It
// reserves memory for the body and for decoding it. It returns TooLarge if the body
// exceeds the limit.
func (x *exchange) readBody(ctx context.Context, limit int64) ([]byte, error) {
	length := x.request.ContentLength
	if length > limit {
		x.Header().Set("Connection", "close") // instead of reading the body
		return nil, errBodyTooLarge(limit)
	}
	if length == 0 {
		return nil, nil
	}
	source := x.request.Body
	if length < 0 {
		// If the body is too large net/http closes the connection, but only if it is
		// given its own ResponseWriter.
		source = http.MaxBytesReader(x.ResponseWriter, source, limit)
	}
	body, err := x.readAll(ctx, source, length)
	x.keep(body)
	if err == nil {
		_ = x.request.Body.Close() // saves net/http another read for the rest of the body
		return body, x.decoded.Raise(ctx, codec.Cost(body))
	}
	if guidon.CodeOf(err) == guidon.Unavailable { // no memory in the budget
		return nil, err
	}
	return nil, x.readError(err, errBodyTooLarge(limit))
}

// readError returns the error for a body that could not be read, which is tooLarge if it
// exceeded its limit.
func (x *exchange) readError(err, tooLarge error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge
	}
	// A body that ends early or does not arrive in time is the caller's mistake, and
	// the caller may still read the response. net/http treats both as a lost connection.
	cut := errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, os.ErrDeadlineExceeded)
	if ctxErr := x.request.Context().Err(); ctxErr != nil && !cut {
		return ctxErr
	}
	return &guidon.Error{Code: guidon.InvalidArgument, Message: "the request body could not be read to its end", Err: err}
}

func errBodyTooLarge(limit int64) error {
	return guidon.Errorf(guidon.TooLarge, "the request body exceeds %d bytes", limit)
}

func (x *exchange) replyMessage(m proto.Message) {
	if raw, ok := m.(*httpbody.HttpBody); ok {
		x.replyRaw(raw.GetContentType(), raw.GetData())
		return
	}
	var body []byte
	var err error
	if x.pretty() {
		body, err = codec.MarshalPretty(m)
	} else if body, err = codec.Append(x.buffer(), m); err == nil {
		x.keep(body)
	}
	if err != nil {
		x.replyError(err)
		return
	}
	x.reply(http.StatusOK, contentJSON, body)
}

// timeoutUnits are the units of the header Grpc-Timeout.
var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second,
	'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond,
}

// withGRPCTimeout returns the request's context with the deadline of the header
// Grpc-Timeout (contract 1.4). It records the deadline in the event.
func (x *exchange) withGRPCTimeout() (context.Context, context.CancelFunc, error) {
	ctx, header := x.request.Context(), first(x.request.Header, "Grpc-Timeout")
	if header == "" {
		return ctx, func() {}, nil
	}
	timeout, err := parseGRPCTimeout(header)
	if err != nil {
		return nil, nil, err
	}
	x.event.deadline = time.Now().Add(timeout)
	ctx, cancel := context.WithDeadline(ctx, x.event.deadline)
	return ctx, cancel, nil
}

func parseGRPCTimeout(header string) (time.Duration, error) {
	invalid := guidon.Errorf(guidon.InvalidArgument, "invalid header Grpc-Timeout: must be a whole number of at most 8 digits and a unit of H, M, S, m, u, n")
	last := len(header) - 1
	unit, ok := timeoutUnits[header[last]]
	if !ok || last > 8 {
		return 0, invalid
	}
	count, err := strconv.ParseUint(header[:last], 10, 32)
	if err != nil {
		return 0, invalid
	}
	return min(time.Duration(count), time.Duration(1<<62)/unit) * unit, nil // #nosec G115 -- 8 digits
}
