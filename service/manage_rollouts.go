package service

import (
	"cmp"
	"context"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// RolloutInput holds the arguments to create or update a rollout. Exactly one of Segment
// and Threshold must be set. If both are, Segment is ignored.
type RolloutInput struct {
	FlagKey string
	// SegmentKey may be set instead of Segment.SegmentKeys. One of them must be set for a Segment,
	// unless the rollout has groups or is for everyone.
	SegmentKey string
	// The ID is for updates, and the Rank, which is at least 0, for new rollouts. The times are
	// not used.
	guidon.Rollout
}

// CreateRollout adds a rollout to a flag. It returns NotFound if the flag or a segment
// does not exist, and InvalidArgument if another rollout has the rank.
func (s *Service) CreateRollout(ctx context.Context, w Write, namespace string, in RolloutInput) (*guidon.Rollout, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if in.FlagKey == "" {
		return nil, 0, emptyField("flagKey")
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	if in.Rank < 0 {
		return nil, 0, invalidField("rank", "must be greater than or equal to '0'")
	}
	missing := rolloutParentNotFound(namespace, in)
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(ctx context.Context, tx Tx, f *guidon.Flag) (*guidon.Rollout, error) {
			if slices.ContainsFunc(f.Rollouts, func(r *guidon.Rollout) bool { return r.Rank == in.Rank }) {
				return nil, guidon.Errorf(guidon.InvalidArgument, "rank number: %d already exists", in.Rank)
			}
			if checked.Type() == guidon.UnknownRollout {
				return nil, guidon.Errorf(guidon.InvalidArgument, "rollout rule is missing")
			}
			r := *checked
			r.ID, r.Rank, r.CreatedAt, r.UpdatedAt = NewID(), in.Rank, tx.Now(), tx.Now()
			f.Rollouts = append(f.Rollouts, &r)
			sortByRank(f.Rollouts, rolloutHeader)
			return &r, mustExist(ctx, tx, &guidon.Flag{Rollouts: []*guidon.Rollout{&r}}, missing)
		})
}

// UpdateRollout replaces the description and the segment or threshold of a rollout. It
// returns NotFound if the rollout or a segment does not exist, and InvalidArgument if
// the stored rollout is of another kind.
func (s *Service) UpdateRollout(ctx context.Context, w Write, namespace string, in RolloutInput) (*guidon.Rollout, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}); err != nil {
		return nil, 0, err
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	if checked.Type() == guidon.UnknownRollout {
		return nil, 0, invalidField("rule", "invalid rollout rule type")
	}
	missing := rolloutNotFound(namespace, in.ID)
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(ctx context.Context, tx Tx, f *guidon.Flag) (*guidon.Rollout, error) {
			r := f.Rollout(in.ID)
			if r == nil {
				return nil, missing
			}
			if r.Additions() && !checked.Additions() {
				return nil, notStated(slices.Index(f.Rollouts, r))
			}
			if r.Type() != checked.Type() {
				return nil, guidon.Errorf(guidon.InvalidArgument, "cannot change type of rollout: have %q attempted %q",
					r.Type(), checked.Type())
			}
			r.Description, r.Segment, r.Threshold, r.Conditions = checked.Description, checked.Segment, checked.Threshold, checked.Conditions
			r.UpdatedAt = tx.Now()
			return r, mustExist(ctx, tx, &guidon.Flag{Rollouts: []*guidon.Rollout{r}}, rolloutParentNotFound(namespace, in))
		})
}

// OrderRollouts assigns the ranks 1, 2, 3, … to the rollouts with the ids, as
// [Service.OrderRules] does.
func (s *Service) OrderRollouts(ctx context.Context, w Write, namespace, flagKey string, ids []string) (int64, error) {
	return order(ctx, s, w, namespace, flagKey, "rolloutIds", ids, flagRollouts, rolloutHeader)
}

// DeleteRollout deletes a rollout and assigns the ranks 1 to n to the remaining ones. If
// the rollout does not exist, it only does the latter (contract 4.7).
func (s *Service) DeleteRollout(ctx context.Context, w Write, namespace, flagKey, id string) (int64, error) {
	return deleteRanked(ctx, s, w, namespace, flagKey, id, flagRollouts, rolloutHeader)
}

func flagRollouts(f *guidon.Flag) *[]*guidon.Rollout { return &f.Rollouts }

// check makes the checks common to create and update, and returns what the rollout states, in its
// stored form. Of its conditions, a threshold has only the times.
func (in RolloutInput) check() (*guidon.Rollout, error) {
	r := &guidon.Rollout{Description: in.Description, Threshold: in.Threshold}
	switch {
	case in.Threshold != nil:
		times := guidon.Conditions{From: in.Stated().From, Until: in.Stated().Until}
		if err := cmp.Or(checkThreshold(in.Threshold, in.Stated()), checkTimes(&times)); err != nil {
			return r, err
		}
		t := *in.Threshold
		ramp, err := checkRamp("threshold", t.Start, t.Ramp)
		t.Ramp, r.Threshold, r.Conditions = ramp, &t, times.OrNil()
		return r, err
	case in.Segment == nil:
		return r, nil
	}
	keys, conditions, err := checkTarget(in.SegmentKey, in.Segment.SegmentKeys, in.Conditions)
	if r.Conditions = conditions; err != nil {
		return r, err
	}
	r.Segment = &guidon.RolloutSegment{
		SegmentKeys: keys, SegmentOperator: change.OperatorFor(keys, in.Segment.SegmentOperator), Value: in.Segment.Value,
	}
	return r, checkEnum("segment.segmentOperator", in.Segment.SegmentOperator)
}

// rolloutParentNotFound returns the error for a rollout whose flag or segment does not
// exist, with the message of contract 5.3.
func rolloutParentNotFound(namespace string, in RolloutInput) error {
	if in.Segment != nil && in.Threshold == nil {
		return guidon.Errorf(guidon.NotFound, "flag %q not found", namespace+"/"+in.FlagKey+" or segment "+in.SegmentKey)
	}
	return guidon.FlagNotFound(namespace, in.FlagKey)
}

func rolloutNotFound(namespace, id string) error {
	return guidon.Errorf(guidon.NotFound, "rollout %q not found", namespace+"/"+id)
}
