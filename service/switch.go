package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// OffDescription is the description of the rollout by which [Service.TurnFlagOff] turns a
// flag off.
const OffDescription = "Off for everyone"

// TurnFlagOff makes a boolean flag false for every entity and context, in one change: it
// puts a rollout of 100 % with the value false and [OffDescription] before all others, so
// that no other one is reached. Nothing else changes, and the flag stays off whatever is
// done to its value and its other rollouts, as long as they come later. A flag whose first
// rollout already gives false to everybody stays as it is.
//
// It returns NotFound if the flag does not exist, InvalidArgument if it is a variant flag,
// and FailedPrecondition as [Service.Edit] does.
func (s *Service) TurnFlagOff(ctx context.Context, w Write, namespace, key string, unlessChangedSince *int64) (*EditResult, int64, error) {
	return s.switchFlag(ctx, w, namespace, key, unlessChangedSince, func(f *guidon.Flag, now time.Time) (bool, error) { return turnOff(f, now), nil })
}

// TurnFlagOn removes the rollout of [Service.TurnFlagOff], so that the flag has the value
// and the rollouts that it had before, with the changes made to them since. A flag that is
// not off stays as it is. TurnFlagOn returns InvalidArgument if another rollout turns the
// flag off: it cannot know what the flag was before. The other errors are those of
// TurnFlagOff.
func (s *Service) TurnFlagOn(ctx context.Context, w Write, namespace, key string, unlessChangedSince *int64) (*EditResult, int64, error) {
	return s.switchFlag(ctx, w, namespace, key, unlessChangedSince, turnOn)
}

// switchFlag applies turn, which reports whether it has changed the flag.
func (s *Service) switchFlag(
	ctx context.Context, w Write, namespace, key string, since *int64, turn func(f *guidon.Flag, now time.Time) (bool, error),
) (*EditResult, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if key == "" {
		return nil, 0, emptyField("key")
	}
	var result *EditResult
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		result = &EditResult{Namespace: namespace, Unchanged: 1}
		if err := mustBeUnchanged(ctx, tx, namespace, change.KindFlag, key, since); err != nil {
			return err
		}
		f, err := tx.Flag(ctx, key)
		if errors.Is(err, guidon.NotFound) {
			return guidon.FlagNotFound(namespace, key)
		}
		if err != nil {
			return err
		}
		if f.Type != guidon.BooleanFlag {
			return guidon.Errorf(guidon.InvalidArgument, "flag %q is not a boolean flag: set enabled instead", namespace+"/"+key)
		}
		changed, err := turn(f, tx.Now())
		if err != nil || !changed {
			return err
		}
		result.Changes, result.Unchanged = []EditedObject{{change.KindFlag, key, change.ActionUpdate}}, 0
		return tx.PutFlag(ctx, f)
	})
	return result.at(revision, err)
}

// isOff reports whether the first rollout of the flag gives false to everybody.
func isOff(f *guidon.Flag) bool {
	if len(f.Rollouts) == 0 {
		return false
	}
	t := f.Rollouts[0].Threshold
	return t != nil && t.Percentage >= 100 && !t.Value
}

// switchOff turns a flag of either type off, and reports whether it was on.
func switchOff(f *guidon.Flag, now time.Time) bool {
	if f.Type == guidon.BooleanFlag {
		return turnOff(f, now)
	}
	if !f.Enabled {
		return false
	}
	f.Enabled, f.UpdatedAt = false, now
	return true
}

// turnOff turns a boolean flag off for everyone, and reports whether that changes it.
func turnOff(f *guidon.Flag, now time.Time) bool {
	if isOff(f) {
		return false
	}
	f.Rollouts = slices.Insert(f.Rollouts, 0, &guidon.Rollout{
		ID: NewID(), Rank: firstRank(f.Rollouts, now), Description: OffDescription,
		Threshold: &guidon.RolloutThreshold{Percentage: 100, Value: false}, CreatedAt: now, UpdatedAt: now,
	})
	f.UpdatedAt = now
	return true
}

// firstRank returns a rank before those of all rollouts. If the lowest possible one is
// taken, as many of the rollouts as necessary get a higher one.
func firstRank(rollouts []*guidon.Rollout, now time.Time) int32 {
	if len(rollouts) == 0 {
		return 1
	}
	if first := rollouts[0].Rank; first > 0 {
		return first - 1
	}
	free := int32(1)
	for _, r := range rollouts {
		if r.Rank >= free {
			break
		}
		r.Rank, r.UpdatedAt = free, now
		free++
	}
	return 0
}

func turnOn(f *guidon.Flag, now time.Time) (bool, error) {
	if !isOff(f) {
		return false, nil
	}
	if f.Rollouts[0].Description != OffDescription {
		return false, guidon.Errorf(guidon.InvalidArgument,
			"flag %q: its first rollout turns it off for everyone, but is not described as %q; change or delete that rollout", f.Key, OffDescription)
	}
	f.Rollouts = f.Rollouts[1:]
	f.UpdatedAt = now
	return true, nil
}
