package handler

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"net/http"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
)

// evaluationSnapshot hands out a namespace for evaluation by the client itself
// (contract 9). Whether the client has it already is known without looking at
// what is in it.
func (h *Handler) evaluationSnapshot(ctx context.Context, m *evaluation.EvaluationNamespaceSnapshotRequest, request *Request) (Response, error) {
	snapshot, err := h.service.Snapshot(ctx, m.GetKey())
	if err != nil {
		return Response{}, err
	}
	p := profileOf(request.ClientVersion)
	response := Response{ETag: snapshotETag(snapshot.Revision(), p)}
	if matchesETag(request.IfNoneMatch, response.ETag) {
		response.NotModified = true
		response.Message = &evaluation.EvaluationNamespaceSnapshot{}
		return response, nil
	}
	// The body is made for gRPC too: it has the bound.
	body := snapshotBodies[p].Of(snapshot)
	switch {
	case body.err != nil:
		return Response{}, body.err
	case request.pieces:
		response.write = func(x *exchange) { x.replySnapshot(body) }
	case request.Transport == "grpc" && body.size > maxGRPCResponse:
		return Response{}, guidon.Errorf(guidon.TooLarge, "the snapshot exceeds %d MiB: ask for it over HTTP", maxGRPCResponse>>20)
	default:
		response.Message = wireSnapshot(snapshot, p)
	}
	return response, nil
}

// snapshotBodies are what snapshots are for the clients of each profile.
var snapshotBodies = func() (bodies [profiles]*guidon.Derivation[*snapshotBody]) {
	for p := range bodies {
		bodies[p] = guidon.NewDerivation(func(s *guidon.Snapshot) *snapshotBody {
			return newSnapshotBody(s, profile(p)) // #nosec G115 -- below profiles
		})
	}
	return bodies
}()

// snapshotForm is to be raised whenever the same state is written in other bytes
// than before, so that no client takes the one for the other.
const snapshotForm = 1

// snapshotETag returns the ETag of a snapshot, 40 hexadecimal digits (contract
// 9.3): number and stamp of the revision, so that a restored database is not
// taken for what it was; then the form and the profile of the body. A namespace
// that does not exist has none.
func snapshotETag(r guidon.Revision, p profile) string {
	if r == (guidon.Revision{}) {
		return ""
	}
	tag := make([]byte, 0, 20)
	tag = binary.BigEndian.AppendUint64(tag, uint64(r.Number)) // #nosec G115 -- the bits are meant
	tag = binary.BigEndian.AppendUint64(tag, uint64(r.Stamp))  // #nosec G115 -- the bits are meant
	tag = binary.BigEndian.AppendUint32(tag, snapshotForm<<8|uint32(p))
	return hex.EncodeToString(tag)
}

// replyVersioned answers with what clients may keep and have to ask about again.
func (x *exchange) replyVersioned(response Response) {
	header := x.Header()
	header.Set("Cache-Control", "private, no-cache")
	header.Add("Vary", clientVersionHeader)
	if response.ETag != "" {
		header["Etag"] = []string{response.ETag} // without quotes (contract 9.3)
	}
	if response.NotModified {
		header.Add("Vary", "Accept-Encoding")
		x.WriteHeader(http.StatusNotModified)
		return
	}
	response.write(x)
}
