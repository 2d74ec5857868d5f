package evaluation

import (
	"context"
	"encoding/binary"
	"encoding/hex"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

// Snapshot returns a namespace for evaluation by the client (contract 9). The
// ETag is compared before anything is encoded.
func (v *Evaluator) Snapshot(
	_ context.Context, view service.View, _ *evaluation.EvaluationNamespaceSnapshotRequest, request *call.Request,
) (call.Response, error) {
	snapshot := view.Snapshot
	if v.observer != nil {
		v.observer.SnapshotRequested(snapshot.Namespace().Key, len(clientFlags.Of(snapshot).omitted))
	}
	view.Counter.Namespace(snapshot.Namespace().Key, count.Download)
	p := profileOf(request.ClientVersion)
	response := call.Response{ETag: snapshotETag(snapshot, p)}
	if call.MatchesETag(request.IfNoneMatch, response.ETag) {
		response.NotModified = true
		response.Message = &evaluation.EvaluationNamespaceSnapshot{}
		return response, nil
	}
	// The body is encoded for gRPC too, because that enforces the size limit.
	body := snapshotBodies[p].Of(snapshot)
	switch {
	case body.err != nil:
		return call.Response{}, body.err
	case request.Pieces:
		response.Answer = body
	case request.Transport == "grpc" && body.size > call.MaxGRPCResponse:
		return call.Response{}, guidon.Errorf(guidon.TooLarge, "the snapshot exceeds %d MiB; download it over HTTP", call.MaxGRPCResponse>>20)
	default:
		response.Message = wireSnapshot(snapshot, p)
	}
	return response, nil
}

// snapshotBodies are the bodies of snapshots for the clients of each profile.
var snapshotBodies = func() (bodies [profiles]*guidon.Derivation[*snapshotBody]) {
	for p := range bodies {
		bodies[p] = guidon.NewDerivation(func(s *guidon.Snapshot) *snapshotBody {
			return newSnapshotBody(s, profile(p)) // #nosec G115 -- below profiles
		})
	}
	return bodies
}()

// snapshotForm is part of the ETag. It must be incremented whenever the encoding of the
// same state changes, so that clients do not keep the old body.
const snapshotForm = 2

// snapshotETag returns the ETag of a snapshot, 40 hexadecimal digits (contract 9.3), or
// "" for a namespace that does not exist. It consists of the number and stamp of the
// revision, the form and profile of the body, and how much is unreadable, which another
// release may be able to read. The stamp distinguishes a restored database from its earlier
// state. It is mixed with the epoch, so that time changes the tag.
func snapshotETag(s *guidon.Snapshot, p profile) string {
	r := s.Revision()
	if r == (guidon.Revision{}) {
		return ""
	}
	tag := make([]byte, 0, 20)
	tag = binary.BigEndian.AppendUint64(tag, uint64(r.Number))                                          // #nosec G115 -- the bits are meant
	tag = binary.BigEndian.AppendUint64(tag, uint64(r.Stamp^s.Epoch()))                                 // #nosec G115 -- the bits are meant
	tag = binary.BigEndian.AppendUint32(tag, uint32(len(s.Unreadable()))<<16|snapshotForm<<8|uint32(p)) // #nosec G115 -- the low bits are enough
	return hex.EncodeToString(tag)
}
