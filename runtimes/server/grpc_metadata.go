package server

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/tap"

	"github.com/guidonhq/guidon/handler/call"
)

// metadataKey is the key of a call's metadata in its context.
type metadataKey struct{}

// keepMetadata stores the received metadata of a call in its context. grpc-go stores it
// too, but returns only copies of all of it, which cost more than evaluating a flag.
func keepMetadata(ctx context.Context, info *tap.Info) (context.Context, error) {
	return context.WithValue(ctx, metadataKey{}, info.Header), nil
}

// requestOf returns the request with the metadata that the handler uses (contract 12).
// Keys are always in lower case in HTTP/2.
func requestOf(ctx context.Context, o *call.Operation, in *inbound) call.Request {
	md := receivedMetadata(ctx)
	request := call.Request{
		Credentials: call.Credentials{
			Authorization: md["authorization"],
			Cookie:        slices.Concat(md["grpcgateway-cookie"], md["cookie"]),
		},
		IfMatch:       strings.Join(md["if-match"], ","),
		IfNoneMatch:   strings.Join(slices.Concat(md["grpcgateway-if-none-match"], md["if-none-match"]), ","),
		ClientVersion: first(md["x-flipt-accept-server-version"]),
		CacheControl:  strings.Join(md["cache-control"], ","),
		MinRevision:   strings.Join(md["guidon-min-revision"], ","),
		RequestID:     first(md["x-request-id"]),
		Trace: call.TraceHeader{
			Parent: strings.Join(md["traceparent"], ","), State: strings.Join(md["tracestate"], ","), Amazon: first(md["x-amzn-trace-id"]),
		},
		Transport: transportGRPC,
		Source:    in,
		Sender:    in,
		Turn:      &in.turn,
	}
	if o.Changes() {
		request.DryRun = strings.Join(md["guidon-dry-run"], ",")
	}
	if o.TakesMessage() {
		request.WriteMessage = strings.Join(md["guidon-message"], ",")
	}
	return request
}

// receivedMetadata returns the metadata that keepMetadata has stored.
func receivedMetadata(ctx context.Context) metadata.MD {
	md, _ := ctx.Value(metadataKey{}).(metadata.MD)
	return md
}

// From implements [call.Sender].
func (in *inbound) From(ctx context.Context) (connection string, forwarded []string) {
	if p, ok := peer.FromContext(ctx); ok {
		connection = p.Addr.String()
	}
	return connection, receivedMetadata(ctx)["x-forwarded-for"]
}

// sendHeader sends the response headers of HTTP as metadata. It ignores errors,
// which only occur if the caller has disconnected.
func sendHeader(ctx context.Context, response call.Response) {
	header := make(metadata.MD, 2) // hardly ever more
	if response.RequestID != "" {
		header["x-request-id"] = []string{response.RequestID}
	}
	if response.Revision != 0 {
		header["guidon-revision"] = []string{strconv.FormatInt(response.Revision, 10)}
	}
	if response.ETag != "" {
		header["x-etag"] = []string{response.ETag}
	}
	if response.NotModified {
		header["x-http-code"] = []string{"304"}
	}
	if stale := call.StaleSeconds(response.Age); stale != "" {
		header["guidon-stale"] = []string{stale}
	}
	if len(response.SetCookie) > 0 {
		header["set-cookie"] = response.SetCookie
	}
	_ = grpc.SendHeader(ctx, header)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
