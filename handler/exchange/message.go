package exchange

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"google.golang.org/genproto/googleapis/api/httpbody"
	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// Messages is the form of operations whose requests and responses are messages in JSON.
var Messages Form = messages{}

type messages struct{}

// clientVersionHeader names the server version that a client was made for.
const clientVersionHeader = "X-Flipt-Accept-Server-Version"

// Serve implements [Form].
func (messages) Serve(x *Exchange, o *call.Operation) {
	ctx, cancel, err := x.Context()
	if err != nil {
		x.ReplyError(err)
		return
	}
	defer cancel()
	x.setCall(o)
	response, err := x.Carry(ctx, o)
	area := o.AreaOf(&x.Call)
	if x.Call.Message != nil {
		o.Release(x.Call.Message)
	}
	for _, cookie := range response.SetCookie {
		x.Header().Add("Set-Cookie", cookie)
	}
	if area == call.AreaAuthentication || o.Has(call.Private) {
		x.Header().Set("Cache-Control", "no-store")
	}
	if err != nil {
		x.ReplyError(err)
		return
	}
	if s := response.SignIn; s != nil && s.Location != "" {
		x.Header().Set("Location", s.Location)
		x.status = http.StatusFound
	}
	switch {
	case o.Has(call.Versioned):
		x.Header().Add("Vary", clientVersionHeader)
		x.replyTagged(response, response.ETag) // without quotes (contract 9.3)
	case response.ETag != "": // it identifies a state that was named by a reference, whatever the encoding
		x.replyTagged(response, `W/"`+response.ETag+`"`)
	default:
		x.replyResponse(&response)
		response.Release()
	}
}

// setCall sets x.Call from the header. The message is received later, from x.
func (x *Exchange) setCall(o *call.Operation) {
	header := x.Request.Header
	x.Call = call.Request{
		Credentials:  call.Credentials{Authorization: header["Authorization"], Cookie: header["Cookie"]},
		IfMatch:      strings.Join(header["If-Match"], ","),
		CacheControl: strings.Join(header["Cache-Control"], ","),
		MinRevision:  strings.Join(header[call.MinRevisionHeader], ","),
		Source:       x,
		Memory:       x.Call.Memory,
		Turn:         x.Call.Turn,
		Rejected:     x.Call.Rejected,
		Pieces:       true,
	}
	if slices.Contains(x.route.variables, "namespace_key") {
		x.Call.Namespace = x.PathVariable("namespace_key")
	}
	if o.Changes() {
		x.Call.DryRun = strings.Join(header[call.DryRunHeader], ",")
	}
	if o.TakesMessage() {
		x.Call.WriteMessage = strings.Join(header[call.MessageHeader], ",")
	}
	if o.Has(call.Versioned | call.ReadsStates) {
		x.Call.IfNoneMatch = strings.Join(header["If-None-Match"], ",")
	}
	if o.Has(call.Versioned) {
		x.Call.ClientVersion = header.Get(clientVersionHeader)
	}
}

// PathVariable returns the value of a variable in the pattern of the route.
func (x *Exchange) PathVariable(name string) string { return chi.URLParam(x.Request, name) }

// Query returns the parameters of the query string, and an error if some are malformed.
func (x *Exchange) Query() (url.Values, error) {
	values, err := url.ParseQuery(x.Request.URL.RawQuery)
	if err != nil {
		err = guidon.Errorf(guidon.InvalidArgument, "the query string is malformed")
	}
	return values, err
}

// Receive implements [call.Source].
func (x *Exchange) Receive(ctx context.Context, o *call.Operation, request *call.Request, limits call.Limits) (err error) {
	m := o.NewRequest()
	if long := o.LongBody(); x.isLong(long, limits) {
		request.Payload, err = x.decodeLong(ctx, long, limits.Bytes, m)
	} else {
		err = x.decode(ctx, o, limits, m)
	}
	if err != nil {
		return err
	}
	for _, name := range x.route.variables { // they override all else (contract 1.2)
		if err := codec.SetPathVariable(m, name, x.PathVariable(name)); err != nil {
			return err
		}
	}
	request.Message = m
	return nil
}

// decode decodes the body or the query into m.
func (x *Exchange) decode(ctx context.Context, o *call.Operation, limits call.Limits, m proto.Message) error {
	switch {
	case o.HasBody(x.route.Route):
		body, err := x.ReadBody(ctx, limits.Bytes)
		if err != nil {
			return err
		}
		unknown, err := codec.UnmarshalRequest(body, m, limits.Values)
		if err != nil {
			return err
		}
		x.ReleaseBody()
		if unknown != nil && (unknown.Certain || o.RejectsUnknown(m)) {
			return unknown.Err()
		}
	case x.Request.URL.RawQuery != "":
		values, err := x.Query()
		if err != nil {
			return err
		}
		return codec.UnmarshalQuery(values, m)
	}
	return nil
}

// Error implements [Form].
func (messages) Error(x *Exchange, err error) {
	code, message := guidon.CodeOf(err), guidon.PublicMessage(err)
	if code == guidon.Unauthenticated {
		x.Header().Set("WWW-Authenticate", message)
	}
	x.Reply(call.HTTPStatus(code), ContentJSON, status{Code: call.GRPCCode(code), Message: message}.encode(x.Pretty()))
}

// replyTagged writes a response that clients may cache but must revalidate.
func (x *Exchange) replyTagged(response call.Response, etag string) {
	header := x.Header()
	header.Set("Cache-Control", "private, no-cache")
	if etag != "" {
		header["Etag"] = []string{etag}
	}
	if response.NotModified {
		header.Add("Vary", "Accept-Encoding")
		x.WriteHeader(http.StatusNotModified)
		return
	}
	x.replyResponse(&response)
}

// replyResponse writes the answer or message of the response.
func (x *Exchange) replyResponse(response *call.Response) {
	switch answer := response.Answer.(type) {
	case Replier:
		answer.Reply(x)
	case call.Whole:
		response.Answer = nil
		x.replyWhole(answer)
	case call.InPieces:
		x.ReplyPieces(answer)
	default:
		switch {
		case !isLarge(response.Message):
			x.replyMessage(response.Message)
		case x.turn.Begun():
			m := codec.LongMessage{Message: response.Message}
			response.Message = nil
			x.replyWhole(m)
		default:
			x.ReplyPieces(codec.LongMessage{Message: response.Message})
		}
	}
}

// Replier is an Answer that responds by itself.
type Replier interface{ Reply(x *Exchange) }

func (x *Exchange) replyMessage(m proto.Message) {
	if raw, ok := m.(*httpbody.HttpBody); ok {
		x.ReplyRaw(raw.GetContentType(), raw.GetData())
		return
	}
	var body []byte
	var err error
	if x.Pretty() {
		body, err = codec.MarshalPretty(m)
	} else if body, err = codec.Append(x.Buffer(), m); err == nil {
		x.Keep(body)
	}
	if err != nil {
		x.ReplyError(err)
		return
	}
	x.Reply(cmp.Or(x.status, http.StatusOK), ContentJSON, body)
}

// isLarge reports whether the message must be written in pieces: its strings are those of the
// cached snapshot, and encoding it as a whole would copy them.
func isLarge(m proto.Message) bool {
	switch m := m.(type) {
	case *evaluation.BooleanEvaluationResponse, *httpbody.HttpBody:
		return false
	case *evaluation.VariantEvaluationResponse: // frequent, so proto.Size is avoided
		return len(m.GetVariantAttachment()) > call.MaxWhole
	}
	return proto.Size(m) > call.MaxWhole
}
