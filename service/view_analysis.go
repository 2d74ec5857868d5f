package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// Reach returns the reach of the flag. It returns NotFound if the flag does not exist.
func (v View) Reach(ctx context.Context, flagKey string) (*analysis.Reach, error) {
	if _, err := v.Flag(flagKey); err != nil {
		return nil, err
	}
	return analysis.ReachOf(ctx, v.Snapshot, flagKey)
}

// PreviewFlag returns the effect on the users of the flag if it is saved as an import in
// mode ImportUpdate saves it. The flag need not exist. PreviewFlag returns InvalidArgument
// with the problems of the edited flag, as [Document.Validate] does.
func (v View) PreviewFlag(ctx context.Context, flagKey string, edited *guidon.Flag) (*analysis.Effect, error) {
	f, err := editedObject(v, flagObjects, flagKey, edited)
	if err != nil {
		return nil, err
	}
	return analysis.EffectOf(ctx, v.Snapshot, v.with(f), flagKey)
}

// PreviewReach returns the reach of the flag if it is saved as [View.PreviewFlag] saves it,
// with the same errors.
func (v View) PreviewReach(ctx context.Context, flagKey string, edited *guidon.Flag) (*analysis.Reach, error) {
	f, err := editedObject(v, flagObjects, flagKey, edited)
	if err != nil {
		return nil, err
	}
	return analysis.ReachOf(ctx, v.with(f), flagKey)
}

// with returns the snapshot if the flag, which may be a new one, is stored as f.
func (v View) with(f *guidon.Flag) *guidon.Snapshot {
	return v.after(guidon.SnapshotDelta{Flags: []*guidon.Flag{f}})
}

// editedObject returns the object as an import in mode ImportUpdate would store it.
func editedObject[O any](v View, k *objectKind[O], key string, edited *O) (*O, error) {
	want, err := k.checked(key, edited, setOf(lists.Map(v.Snapshot.Segments(), segmentKey)))
	if err != nil {
		return nil, err
	}
	have := k.find(v.Snapshot, key)
	if err := change.MustBeReadable(have); err != nil {
		return nil, err
	}
	return k.edited(have, want, time.Time{}), nil
}

// SegmentUse lists the references to a segment in one flag, with the effect of a change of
// the segment on users of that flag.
type SegmentUse struct {
	analysis.SegmentUse
	Effect *analysis.Effect
}

// SegmentUsage returns a page of the flags that refer to the segment, with the effect of
// removing it. It returns NotFound if the segment does not exist.
func (v View) SegmentUsage(ctx context.Context, segmentKey string, request PageRequest) ([]SegmentUse, Page, error) {
	if _, err := v.Segment(segmentKey); err != nil {
		return nil, Page{}, err
	}
	return v.segmentUses(ctx, segmentKey, request, guidon.SnapshotDelta{DeletedSegments: []string{segmentKey}})
}

// PreviewSegment returns a page of the flags that refer to the segment, with the effect of
// saving it as an import in mode ImportUpdate saves it. The segment need not exist.
// PreviewSegment returns InvalidArgument with the problems of the edited segment.
func (v View) PreviewSegment(
	ctx context.Context, segmentKey string, edited *guidon.Segment, request PageRequest,
) ([]SegmentUse, Page, error) {
	segment, err := editedObject(v, segmentObjects, segmentKey, edited)
	if err != nil {
		return nil, Page{}, err
	}
	return v.segmentUses(ctx, segmentKey, request, guidon.SnapshotDelta{Segments: []*guidon.Segment{segment}})
}

// checkEdited sets the key of an edited object, which may be empty but not another one.
func checkEdited(key string, edited *string) error {
	if err := NotEmpty("key", key); err != nil {
		return err
	}
	if *edited != "" && *edited != key {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field key: the edited object has the key %q instead of %q", *edited, key)
	}
	*edited = key
	return nil
}

// maxUsePage is the largest page of uses: each one of a segment takes an analysis.
const maxUsePage = 50

// limitUses limits a page of uses, and returns InvalidArgument if the request breaks a rule.
func (r *PageRequest) limitUses() error {
	if r.Limit == 0 || r.Limit > maxUsePage {
		r.Limit = maxUsePage
	}
	return r.ValidateTokenFirst()
}

func (v View) segmentUses(
	ctx context.Context, segmentKey string, request PageRequest, delta guidon.SnapshotDelta,
) ([]SegmentUse, Page, error) {
	if err := request.limitUses(); err != nil {
		return nil, Page{}, err
	}
	page, info, err := paginateSorted(v.Snapshot.SegmentUsers(segmentKey), request, func(f *guidon.Flag) string { return f.Key })
	if err != nil {
		return nil, Page{}, err
	}
	uses, after := make([]SegmentUse, len(page)), v.after(delta)
	for i, u := range analysis.SegmentUses(page)[segmentKey] {
		uses[i].SegmentUse = u
		if uses[i].Effect, err = analysis.EffectOf(ctx, v.Snapshot, after, u.Flag.Key); err != nil {
			return nil, Page{}, err
		}
	}
	return uses, info, nil
}

// FlagUses returns a page of the flags that require the flag, by their keys. It returns NotFound if
// the flag does not exist.
func (v View) FlagUses(flagKey string, request PageRequest) ([]analysis.FlagUse, Page, error) {
	if _, err := v.Flag(flagKey); err != nil {
		return nil, Page{}, err
	}
	if err := request.limitUses(); err != nil {
		return nil, Page{}, err
	}
	return paginate(analysis.FlagUses(v.Snapshot, flagKey), request, func(u analysis.FlagUse) string { return u.Flag.Key })
}
