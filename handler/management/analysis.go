package management

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// GetFlagReach returns the reach of a flag: the rules and results that no entity gets.
func GetFlagReach(ctx context.Context, v service.View, m *guidonv1.GetFlagReachRequest) (*guidonv1.FlagReach, error) {
	r, err := v.Reach(ctx, m.GetKey())
	return convert.Result(r, err, convert.Reach)
}

// GetFlagTimeline returns when rules of a flag begin and end.
func GetFlagTimeline(_ context.Context, v service.View, m *guidonv1.GetFlagTimelineRequest) (*guidonv1.FlagTimeline, error) {
	f, err := v.Flag(m.GetKey())
	if err != nil {
		return nil, err
	}
	return convert.Timeline(f, v.Snapshot.Epoch()), nil
}

// CheckPreviewFlag checks that there is a key, and an edited flag, a switch or an action.
func CheckPreviewFlag(request *guidonv1.PreviewFlagRequest) error {
	err := service.ExactlyOne("flag, turnOn or ramp", request.GetFlag() != nil, request.TurnOn != nil, request.GetRamp() != 0)
	return cmp.Or(err, CheckKey(request))
}

// PreviewFlag returns the effect of saving a flag, of turning it on or off, or of an action on a
// ramp.
func PreviewFlag(ctx context.Context, v service.View, m *guidonv1.PreviewFlagRequest) (*guidonv1.FlagEffect, error) {
	var e *analysis.Effect
	var err error
	switch {
	case m.TurnOn != nil:
		e, err = v.PreviewSwitch(ctx, m.GetKey(), m.GetTurnOn())
	case m.GetRamp() != 0:
		e, err = v.PreviewRamp(ctx, m.GetKey(), int(m.GetRule()), convert.Enum[service.RampAction](m.GetRamp()))
	default:
		e, err = v.PreviewFlag(ctx, m.GetKey(), convert.DocumentFlagOf(m.GetFlag()))
	}
	return convert.Result(e, err, convert.Effect)
}

// CheckPreviewFlagReach checks that there is an edited flag with a key.
func CheckPreviewFlagReach(request *guidonv1.PreviewFlagRequest) error {
	switch {
	case request.TurnOn != nil:
		return guidon.Errorf(guidon.InvalidArgument, "invalid field turnOn: must not be set")
	case request.GetRamp() != 0:
		return guidon.Errorf(guidon.InvalidArgument, "invalid field ramp: must not be set")
	case request.GetFlag() == nil:
		return guidon.Errorf(guidon.InvalidArgument, "invalid field flag: must not be empty")
	}
	return CheckKey(request)
}

// PreviewFlagReach returns the reach of an edited flag.
func PreviewFlagReach(ctx context.Context, v service.View, m *guidonv1.PreviewFlagRequest) (*guidonv1.FlagReach, error) {
	r, err := v.PreviewReach(ctx, m.GetKey(), convert.DocumentFlagOf(m.GetFlag()))
	return convert.Result(r, err, convert.Reach)
}

// GetSegmentUsage returns the references to a segment.
func GetSegmentUsage(ctx context.Context, v service.View, m *guidonv1.GetSegmentUsageRequest) (*guidonv1.SegmentUsage, error) {
	requested := convert.Page(m)
	uses, page, err := v.SegmentUsage(ctx, m.GetKey(), requested)
	return segmentUsage(m.GetKey(), requested, uses, page, err)
}

// ListFlagUses returns the flags that require a flag.
func ListFlagUses(_ context.Context, v service.View, m *guidonv1.ListFlagUsesRequest) (*guidonv1.FlagUseList, error) {
	uses, page, err := v.FlagUses(m.GetKey(), convert.Page(m))
	if err != nil {
		return nil, err
	}
	return &guidonv1.FlagUseList{
		NextPageToken: page.NextToken, TotalCount: convert.Count(page.Total),
		Uses: lists.Map(uses, func(u analysis.FlagUse) *guidonv1.FlagUse {
			rules := lists.Map(u.Rules, convert.Count)
			return &guidonv1.FlagUse{FlagKey: u.Flag.Key, FlagName: u.Flag.Name, Whole: u.Whole, Rules: rules}
		}),
	}, nil
}

// CheckPreviewSegment checks that there is an edited segment with a key.
func CheckPreviewSegment(m *guidonv1.PreviewSegmentRequest) error {
	if m.GetSegment() == nil {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field segment: must not be empty")
	}
	return CheckKey(m)
}

// PreviewSegment returns the effect of saving a segment.
func PreviewSegment(ctx context.Context, v service.View, m *guidonv1.PreviewSegmentRequest) (*guidonv1.SegmentUsage, error) {
	requested := convert.Page(m)
	uses, page, err := v.PreviewSegment(ctx, m.GetKey(), convert.DocumentSegmentOf(m.GetSegment()), requested)
	return segmentUsage(m.GetKey(), requested, uses, page, err)
}

// segmentUsage returns the page, or as much of it as fits into a response.
func segmentUsage(
	key string, requested service.PageRequest, uses []service.SegmentUse, page service.Page, err error,
) (*guidonv1.SegmentUsage, error) {
	if err != nil {
		return nil, err
	}
	messages := lists.Map(uses, func(u service.SegmentUse) *guidonv1.SegmentUse { return segmentUse(key, u) })
	n, _ := convert.Fitting(messages, func(m *guidonv1.SegmentUse) int { return proto.Size(m) })
	if n < len(messages) {
		page.NextToken = requested.After(n, messages[n].GetFlagKey())
	}
	return &guidonv1.SegmentUsage{Uses: messages[:n], NextPageToken: page.NextToken, TotalCount: convert.Count(page.Total)}, nil
}

func segmentUse(segmentKey string, u service.SegmentUse) *guidonv1.SegmentUse {
	only := func(keys, except []string) bool {
		return !slices.ContainsFunc(slices.Concat(keys, except), func(key string) bool { return key != segmentKey })
	}
	return &guidonv1.SegmentUse{
		FlagKey: u.Flag.Key, FlagName: u.Flag.Name, Effect: convert.Effect(u.Effect),
		Rules: lists.Map(u.Rules, func(i int) *guidonv1.SegmentReference {
			r := u.Flag.Rules[i]
			return &guidonv1.SegmentReference{Index: convert.Count(i), Id: r.ID, OnlySegment: only(r.SegmentKeys, r.Stated().ExceptSegmentKeys)}
		}),
		Rollouts: lists.Map(u.Rollouts, func(i int) *guidonv1.SegmentReference {
			r := u.Flag.Rollouts[i]
			return &guidonv1.SegmentReference{Index: convert.Count(i), Id: r.ID, OnlySegment: only(r.Segment.SegmentKeys, r.Stated().ExceptSegmentKeys)}
		}),
	}
}
