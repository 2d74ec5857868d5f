package service

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/change"
)

// OffDescription is the description of the rollout by which a boolean flag is turned off.
const OffDescription = "Off for everyone"

// TurnFlagOff turns a flag off for every entity and context, in one change, so that
// [Service.TurnFlagOn] restores its former behavior:
//
//   - A boolean flag becomes false. It gets a rollout of 100% with the value false and
//     [OffDescription] before all others, so that no other one is reached. The flag stays off
//     whatever is done to its value and its other rollouts, as long as they come later. A flag
//     whose first rollout already gives false to everybody stays as it is.
//   - A variant flag becomes not enabled, and its metadata get the member [OffMember]. A flag
//     that is not enabled stays as it is.
//
// It returns NotFound if the flag does not exist, and FailedPrecondition as [Service.Edit]
// does.
func (s *Service) TurnFlagOff(ctx context.Context, w Write, namespace, key string, unlessChangedSince *int64) (*WriteResult, int64, error) {
	return s.switchFlag(ctx, w, namespace, key, unlessChangedSince, turnFlagOff)
}

func turnFlagOff(_ context.Context, tx Tx, f *guidon.Flag) (bool, error) {
	return turnOff(f, tx.Now()), nil
}

// TurnFlagOn restores the behavior that the flag had before it was turned off, with the
// changes made to it since. A flag that is not off stays as it is.
//
// It cannot know how a flag that is off for another reason should behave: it returns
// InvalidArgument, unless the caller wants the flag to be on for everyone. Then it becomes
// enabled, whatever its rollouts give to some: a boolean flag is true for everybody whom no
// rollout matches, and the rules of a variant flag decide. TurnFlagOn returns InvalidArgument
// as well if rollouts make the flag false for everybody even so. The other errors are those
// of TurnFlagOff.
func (s *Service) TurnFlagOn(
	ctx context.Context, w Write, namespace, key string, everyone bool, unlessChangedSince *int64,
) (*WriteResult, int64, error) {
	return s.switchFlag(ctx, w, namespace, key, unlessChangedSince, turnFlagOn(everyone))
}

func turnFlagOn(everyone bool) turn {
	return func(ctx context.Context, tx Tx, f *guidon.Flag) (bool, error) {
		return turnOn(f, everyone, tx.Now(),
			func(key string) (*guidon.Segment, error) { return segmentObjects.stored(ctx, tx, key) })
	}
}

// PreviewSwitch returns the effect on the users of the flag if it is turned off, or on for
// everyone. The errors are those of [Service.TurnFlagOff] and [Service.TurnFlagOn].
func (v View) PreviewSwitch(ctx context.Context, flagKey string, on bool) (*analysis.Effect, error) {
	f, err := v.Flag(flagKey)
	if err != nil {
		return nil, err
	}
	switched := *f
	if on {
		_, err = turnOn(&switched, true, v.instant(), func(key string) (*guidon.Segment, error) { return v.Snapshot.Segment(key), nil })
	} else {
		turnOff(&switched, time.Time{})
	}
	if err != nil {
		return nil, err
	}
	return analysis.EffectOf(ctx, v.Snapshot, v.with(&switched), flagKey)
}

// turn turns a stored flag off or on, and reports whether that changes it.
type turn func(ctx context.Context, tx Tx, f *guidon.Flag) (bool, error)

// switchFlag stores the flag as turn changes it.
func (s *Service) switchFlag(
	ctx context.Context, w Write, namespace, key string, since *int64, turn turn,
) (*WriteResult, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if key == "" {
		return nil, 0, emptyField("key")
	}
	var result *WriteResult
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		result = &WriteResult{Namespace: namespace, Unchanged: 1}
		if err := mustBeUnchanged(ctx, tx, namespace, change.KindFlag, key, since); err != nil {
			return err
		}
		f, err := tx.Flag(ctx, key)
		if err != nil {
			return err
		}
		changed, err := turn(ctx, tx, f)
		if err != nil || !changed {
			return err
		}
		result.Changes, result.Unchanged = []*ObjectChange{{Kind: change.KindFlag, Key: key, Action: change.ActionUpdate}}, 0
		return tx.PutFlag(ctx, f)
	})
	return result.at(revision, err)
}

// TurnedOff reports whether the flag is off because it was turned off, so that turning it on
// restores its former behavior. The flag alone decides that, so it holds for exports, copies
// and earlier states too.
func TurnedOff(f *guidon.Flag) bool {
	if f.Type == guidon.BooleanFlag {
		return change.OffFirst(f) && f.Rollouts[0].Description == OffDescription
	}
	return !f.Enabled && hasOffMember(f.Metadata)
}

// turnOff turns the flag off for everyone, and reports whether that changes it. It leaves the
// rollouts and metadata of a copy of the flag as they are.
func turnOff(f *guidon.Flag, now time.Time) bool {
	if f.Type == guidon.BooleanFlag && change.OffFirst(f) || f.Type == guidon.VariantFlag && !f.Enabled {
		return false
	}
	putOff(f, now)
	return true
}

// putOff is turnOff for a flag that may be off for everyone already by what is restored later.
func putOff(f *guidon.Flag, now time.Time) {
	if f.Type == guidon.BooleanFlag {
		f.Rollouts = putFirst(&guidon.Rollout{
			ID: NewID(), Description: OffDescription, Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: false}, CreatedAt: now,
			UpdatedAt: now,
		}, f.Rollouts, now)
	} else {
		f.Enabled, f.Metadata = false, withOffMember(f.Metadata)
	}
	f.UpdatedAt = now
}

// putFirst returns the rollouts behind first, which gets a rank before all of them. If the
// lowest possible one is taken, copies of as many of the rollouts as necessary get a higher one.
func putFirst(first *guidon.Rollout, rollouts []*guidon.Rollout, now time.Time) []*guidon.Rollout {
	all := slices.Concat([]*guidon.Rollout{first}, rollouts)
	switch {
	case len(rollouts) == 0:
		first.Rank = 1
	case rollouts[0].Rank > 0:
		first.Rank = rollouts[0].Rank - 1
	}
	for i := 1; i < len(all) && all[i].Rank <= all[i-1].Rank; i++ {
		moved := *all[i]
		moved.Rank, moved.UpdatedAt = all[i-1].Rank+1, now
		all[i] = &moved
	}
	return all
}

// turnOn turns the flag on as [Service.TurnFlagOn] does, and reports whether that changes it.
// The segment function returns a segment that the flag refers to, or nil.
func turnOn(f *guidon.Flag, everyone bool, now time.Time, segment func(key string) (*guidon.Segment, error)) (bool, error) {
	if TurnedOff(f) {
		restoreSwitched(f, now)
		return true, nil
	}
	is, err := stateOf(f, now, segment)
	if err != nil || is != analysis.OffState && (f.Enabled || !everyone) {
		return false, err
	}
	wide := *f
	wide.Enabled, wide.UpdatedAt = true, now
	switch would, err := stateOf(&wide, now, segment); {
	case err != nil:
		return false, err
	case would == analysis.OffState:
		return false, guidon.Errorf(guidon.InvalidArgument,
			"flag %q is not turned on: its rules make it false for everybody; change or delete them", f.Key)
	case !everyone:
		return false, guidon.Errorf(guidon.InvalidArgument,
			"flag %q is not turned on: it has not been turned off, so there is nothing to restore; to enable it for everyone, set everyone", f.Key)
	}
	*f = wide
	return true, nil
}

// restoreSwitched reverts the changes of turnOff to the flag.
func restoreSwitched(f *guidon.Flag, now time.Time) {
	if f.Type == guidon.BooleanFlag {
		f.Rollouts = f.Rollouts[1:]
	} else {
		f.Enabled, f.Metadata = true, withoutOffMember(f.Metadata)
	}
	f.UpdatedAt = now
}

// stateOf returns the flag's own state at the time, for which the segments of rules do not
// matter, and neither do the flags that it requires: turning it on does not change those.
func stateOf(f *guidon.Flag, now time.Time, segment func(key string) (*guidon.Segment, error)) (analysis.FlagState, error) {
	segments := map[string]*guidon.Segment{}
	for _, r := range f.Rollouts {
		if r.Segment == nil {
			continue
		}
		for _, key := range slices.Concat(r.Segment.SegmentKeys, r.Stated().ExceptSegmentKeys) {
			if segments[key] != nil {
				continue
			}
			g, err := segment(key)
			if err != nil {
				return 0, err
			}
			if g != nil {
				segments[key] = g
			}
		}
	}
	alone := guidon.NewSnapshot(&guidon.Namespace{}, guidon.Revision{}, []*guidon.Flag{f}, slices.Collect(maps.Values(segments)))
	return analysis.Summarize(alone.At(now).Compiled(f.Key)).Own, nil
}
