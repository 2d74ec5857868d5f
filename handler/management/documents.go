package management

import (
	"context"
	"iter"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// ImportDocument imports a document.
func ImportDocument(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ImportRequest, request *call.Request,
) (call.Response, error) {
	if m.GetDocument() == nil {
		return call.Response{}, guidon.Errorf(guidon.InvalidArgument, "invalid field document: must not be empty")
	}
	mode := convert.Enum[service.ImportMode](m.GetMode())
	document, streamed := request.Payload.(*service.Document)
	request.Payload = nil // so that it can be freed before the state after the import is built
	if !streamed {
		document = convert.DocumentOf(m.GetDocument())
	}
	result, revision, err := s.Import(ctx, convert.WithMessage(c.Write(), m), m.GetNamespaceKey(), document, mode, m.GetDryRun())
	state := service.State{Namespace: convert.NamespaceOf(m), Revision: revision}
	if err != nil {
		return call.Response{State: state}, err
	}
	return call.Response{State: state, Message: wireImportResult(result)}, nil
}

// ExportDocument exports a document.
func ExportDocument(_ context.Context, v service.View, m *guidonv1.ExportRequest, request *call.Request) (call.Response, error) {
	export := v.Export(m.GetSortByKey())
	if err := export.Err(); err != nil {
		return call.Response{}, err
	}
	if request.Pieces {
		return call.Response{Answer: codec.LongMessage{
			Message: &guidonv1.Document{Namespace: convert.WireDocumentNamespace(export.Namespace)},
			Lists: []codec.LongList{
				codec.NewLongList("flags", export.Flags, convert.WireDocumentFlag),
				codec.NewLongList("segments", export.Segments, convert.WireDocumentSegment),
			},
		}}, nil
	}
	if request.Transport == "grpc" {
		if err := checkExportMessage(export); err != nil {
			return call.Response{}, err
		}
	}
	return call.Response{Message: &guidonv1.Document{
		Namespace: convert.WireDocumentNamespace(export.Namespace),
		Flags:     collect(export.Flags, convert.WireDocumentFlag),
		Segments:  collect(export.Segments, convert.WireDocumentSegment),
	}}, nil
}

// checkExportMessage returns TooLarge if the message of the export would be too large,
// without building it.
func checkExportMessage(export *service.Export) error {
	size := 0
	for f := range export.Flags {
		if size += proto.Size(convert.WireDocumentFlag(f)); size > call.MaxGRPCResponse {
			return errExportTooLarge
		}
	}
	for g := range export.Segments {
		if size += proto.Size(convert.WireDocumentSegment(g)); size > call.MaxGRPCResponse {
			return errExportTooLarge
		}
	}
	return nil
}

var errExportTooLarge = guidon.Errorf(guidon.TooLarge, "the document exceeds %d MiB; export it over HTTP", call.MaxGRPCResponse>>20)

func collect[T, M any](items iter.Seq[T], convert func(T) M) []M {
	var converted []M
	for item := range items {
		converted = append(converted, convert(item))
	}
	return converted
}

func wireImportResult(r *service.WriteResult) *guidonv1.ImportResponse {
	return &guidonv1.ImportResponse{
		NamespaceKey: r.Namespace, Revision: r.Revision, DryRun: r.DryRun,
		Changes: lists.Map(r.Changes, wireImportChange), Unchanged: convert.Count(r.Unchanged), Skipped: r.Skipped,
	}
}

func wireImportChange(c *service.ObjectChange) *guidonv1.DocumentChange {
	return &guidonv1.DocumentChange{
		Kind: string(c.Kind), Key: c.Key, Action: string(c.Action),
		Before: convert.WireDocument(c.Before), After: convert.WireDocument(c.After),
	}
}
