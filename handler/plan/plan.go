package plan

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// InParts is the remedy that errors about the limits of a request suggest.
const InParts = "plan it in parts"

// request is the common part of the requests of both operations.
type request interface {
	convert.InNamespace
	GetDocument() *guidonv1.Document
	GetSourceNamespaceKey() string
	GetMode() guidonv1.PlanMode
	GetFlagKeys() []string
	GetSegmentKeys() []string
	GetWithoutSegments() bool
	GetKeep() []string
	GetUndo() *guidonv1.UndoneChanges
}

// Plan returns the changes that Apply would make.
func Plan(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.PlanRequest, from *call.Request) (call.Response, error) {
	r, err := requestOf(m, from)
	if err != nil {
		return call.Response{}, err
	}
	plan, state, err := s.Plan(ctx, c.Caller, c.Demand, r, from.Admit)
	if err != nil {
		return call.Response{State: state}, err
	}
	message := response(plan, m.GetPageWords())
	if m.GetWithEffects() {
		if err := addEffects(ctx, message, plan); err != nil {
			return call.Response{State: state}, err
		}
	}
	return call.Response{State: state, Message: message}, nil
}

// Apply carries out a plan.
func Apply(ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.ApplyRequest, from *call.Request) (call.Response, error) {
	r, err := requestOf(m, from)
	if err != nil {
		return call.Response{}, err
	}
	plan, revision, err := s.Apply(ctx, convert.WithMessage(c.Write(), m), c.Demand, r, expected(m), from.Admit)
	state := service.State{Namespace: convert.NamespaceOf(m), Revision: revision}
	if err != nil {
		return call.Response{State: state}, err
	}
	return call.Response{State: state, Message: response(plan, false)}, nil
}

// modes are the modes by their numbers on the wire.
var modes = map[guidonv1.PlanMode]service.ImportMode{
	guidonv1.PlanMode_UPDATE_PLAN_MODE:        service.ImportUpdate,
	guidonv1.PlanMode_REPLACE_PLAN_MODE:       service.ImportReplace,
	guidonv1.PlanMode_CREATE_PLAN_MODE:        service.ImportCreate,
	guidonv1.PlanMode_SKIP_EXISTING_PLAN_MODE: service.ImportSkipExisting,
}

func requestOf(m request, from *call.Request) (service.PlanRequest, error) {
	r := service.PlanRequest{
		Namespace: m.GetNamespaceKey(), Source: m.GetSourceNamespaceKey(),
		Flags: m.GetFlagKeys(), Segments: m.GetSegmentKeys(), WithoutSegments: m.GetWithoutSegments(),
	}
	var known bool
	if r.Mode, known = modes[m.GetMode()]; !known {
		return r, guidon.Errorf(guidon.InvalidArgument, "invalid field mode: is not a known value")
	}
	if document, streamed := from.Payload.(*service.Document); streamed {
		r.Document = document
	} else if m.GetDocument() != nil {
		r.Document = convert.DocumentOf(m.GetDocument())
	}
	var err error
	if r.Keep, err = service.ParseKeep(m.GetKeep()); err != nil {
		return r, err
	}
	r.Undo, err = undoOf(m.GetUndo())
	return r, err
}

func expected(m *guidonv1.ApplyRequest) service.ExpectedPlan {
	return service.ExpectedPlan{
		Digest: m.GetDigest(),
		Changes: lists.Map(m.GetExpectedChanges(), func(c *guidonv1.ExpectedChange) *service.ExpectedChange {
			return &service.ExpectedChange{Kind: change.Kind(c.GetKind()), Key: c.GetKey(), Digest: c.GetDigest()}
		}),
	}
}
