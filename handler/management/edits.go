package management

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// GetFlagContent returns a flag with everything under it.
func GetFlagContent(_ context.Context, v service.View, m *guidonv1.GetFlagContentRequest) (*guidonv1.FlagContent, error) {
	f, err := v.Flag(m.GetKey())
	return convert.Result(f, err, func(f *guidon.Flag) *guidonv1.FlagContent {
		return &guidonv1.FlagContent{
			Flag: convert.WireDocumentFlag(service.NewDocumentFlag(f)), CreatedAt: convert.Timestamp(f.CreatedAt),
			UpdatedAt:  convert.Timestamp(f.UpdatedAt),
			Unreadable: convert.ErrorText(v.Snapshot.Compiled(f.Key).Err()),
			Omitted:    analysis.ComingOmission(v.Snapshot, f.Key),
		}
	})
}

// GetSegmentContent returns a segment with its constraints.
func GetSegmentContent(_ context.Context, v service.View, m *guidonv1.GetSegmentContentRequest) (*guidonv1.SegmentContent, error) {
	g, err := v.Segment(m.GetKey())
	return convert.Result(g, err, func(g *guidon.Segment) *guidonv1.SegmentContent {
		return &guidonv1.SegmentContent{
			Segment: convert.WireDocumentSegment(service.NewDocumentSegment(g)), CreatedAt: convert.Timestamp(g.CreatedAt),
			UpdatedAt: convert.Timestamp(g.UpdatedAt),
		}
	})
}

// ReplaceFlag creates or replaces a flag.
func ReplaceFlag(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.ReplaceFlagRequest,
) (*guidonv1.EditResponse, int64, error) {
	if m.GetFlag() == nil {
		return nil, 0, guidon.Errorf(guidon.InvalidArgument, "invalid field flag: must not be empty")
	}
	r, revision, err := s.ReplaceFlag(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), m.GetKey(),
		convert.DocumentFlagOf(m.GetFlag()), m.UnlessChangedSince)
	return convert.Changed(r, revision, err, editResponse)
}

// ReplaceSegment creates or replaces a segment.
func ReplaceSegment(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.ReplaceSegmentRequest,
) (*guidonv1.EditResponse, int64, error) {
	if m.GetSegment() == nil {
		return nil, 0, guidon.Errorf(guidon.InvalidArgument, "invalid field segment: must not be empty")
	}
	r, revision, err := s.ReplaceSegment(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), m.GetKey(),
		convert.DocumentSegmentOf(m.GetSegment()), m.UnlessChangedSince)
	return convert.Changed(r, revision, err, editResponse)
}

// CheckTurnFlagOff checks that the request has nothing that is for TurnFlagOn alone.
func CheckTurnFlagOff(m *guidonv1.SwitchFlagRequest) error {
	if m.GetEveryone() {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field everyone: a flag is always turned off for everyone")
	}
	return nil
}

// TurnFlagOff turns a flag off for everyone.
func TurnFlagOff(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.SwitchFlagRequest,
) (*guidonv1.EditResponse, int64, error) {
	r, revision, err := s.TurnFlagOff(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), m.GetKey(), m.UnlessChangedSince)
	return convert.Changed(r, revision, err, editResponse)
}

// TurnFlagOn restores the state of a flag before TurnFlagOff.
func TurnFlagOn(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.SwitchFlagRequest,
) (*guidonv1.EditResponse, int64, error) {
	r, revision, err := s.TurnFlagOn(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), m.GetKey(), m.GetEveryone(), m.UnlessChangedSince)
	return convert.Changed(r, revision, err, editResponse)
}

// ControlRamp changes the ramp of a rule.
func ControlRamp(
	ctx context.Context, s *service.Service, w service.Write, m *guidonv1.ControlRampRequest,
) (*guidonv1.EditResponse, int64, error) {
	r, revision, err := s.ControlRamp(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), m.GetKey(), int(m.GetRule()),
		convert.Enum[service.RampAction](m.GetAction()), m.UnlessChangedSince)
	return convert.Changed(r, revision, err, editResponse)
}

// Patch changes several flags and segments.
func Patch(ctx context.Context, s *service.Service, w service.Write, m *guidonv1.PatchRequest) (*guidonv1.EditResponse, int64, error) {
	r, revision, err := s.Edit(ctx, convert.WithMessage(w, m), m.GetNamespaceKey(), service.Edits{
		Flags: lists.Map(m.GetFlags(), flagEdit), Segments: lists.Map(m.GetSegments(), segmentEdit),
	})
	return convert.Changed(r, revision, err, editResponse)
}

func flagEdit(m *guidonv1.FlagEdit) service.FlagEdit {
	edit := service.FlagEdit{Delete: m.GetDelete(), TurnOff: m.GetTurnOff(), TurnOn: m.GetTurnOn(), Everyone: m.GetEveryone()}
	if m != nil {
		edit.UnlessChangedSince = m.UnlessChangedSince
	}
	if put := m.GetPut(); put != nil {
		edit.Put = convert.DocumentFlagOf(put)
	}
	return edit
}

func segmentEdit(m *guidonv1.SegmentEdit) service.SegmentEdit {
	edit := service.SegmentEdit{Delete: m.GetDelete()}
	if m != nil {
		edit.UnlessChangedSince = m.UnlessChangedSince
	}
	if put := m.GetPut(); put != nil {
		edit.Put = convert.DocumentSegmentOf(put)
	}
	return edit
}

func editResponse(r *service.WriteResult) *guidonv1.EditResponse {
	return &guidonv1.EditResponse{
		NamespaceKey: r.Namespace, Revision: r.Revision, Unchanged: convert.Count(r.Unchanged),
		Changes: lists.Map(r.Changes, func(o *service.ObjectChange) *guidonv1.EditedObject {
			return &guidonv1.EditedObject{Kind: string(o.Kind), Key: o.Key, Action: string(o.Action)}
		}),
	}
}
