package server

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"

	"github.com/guidonhq/guidon/handler"
)

// metadataKey is where a call's context has its metadata.
type metadataKey struct{}

// keepMetadata puts the metadata of a call, as it was received, into its context.
// What grpc-go itself has there can only be had as a copy of all of it, which
// costs more than the evaluation of a flag.
func keepMetadata(ctx context.Context, info *tap.Info) (context.Context, error) {
	return context.WithValue(ctx, metadataKey{}, info.Header), nil
}

// requestOf returns the request with the metadata that the handler looks at
// (contract 12). Keys are in lower case: HTTP/2 has no others.
func requestOf(ctx context.Context, in *inbound) handler.Request {
	md, _ := ctx.Value(metadataKey{}).(metadata.MD)
	return handler.Request{
		Authorization: md["authorization"],
		Cookie:        slices.Concat(md["grpcgateway-cookie"], md["cookie"]),
		IfMatch:       strings.Join(md["if-match"], ","),
		IfNoneMatch:   strings.Join(slices.Concat(md["grpcgateway-if-none-match"], md["if-none-match"]), ","),
		ClientVersion: first(md["x-flipt-accept-server-version"]),
		CacheControl:  strings.Join(md["cache-control"], ","),
		MinRevision:   strings.Join(md["guidon-min-revision"], ","),
		RequestID:     first(md["x-request-id"]),
		Transport:     transportGRPC,
		Source:        in,
	}
}

// sendHeader sends what HTTP answers in its headers. The only error it could
// have is that the caller is gone.
func sendHeader(ctx context.Context, response handler.Response) {
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
	if stale := handler.StaleSeconds(response.Stale); stale != "" {
		header["guidon-stale"] = []string{stale}
	}
	_ = grpc.SendHeader(ctx, header)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
