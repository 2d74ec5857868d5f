package service

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/guidonhq/guidon"
)

// DistributionInput holds the arguments to create, update or delete a distribution.
type DistributionInput struct {
	ID        string // on update and delete only
	FlagKey   string
	RuleID    string
	VariantID string
	Rollout   float32 // percent, 0 to 100
}

// CreateDistribution adds a distribution to a rule. It returns NotFound if the flag,
// the rule or the variant does not exist.
func (s *Service) CreateDistribution(
	ctx context.Context, w Write, namespace string, in DistributionInput,
) (*guidon.Distribution, int64, error) {
	if err := in.check(); err != nil {
		return nil, 0, err
	}
	return s.updateRule(ctx, w, namespace, in, func(tx Tx, r *guidon.Rule) (*guidon.Distribution, error) {
		if r.CodeDefault {
			return nil, errCodeDefault
		}
		d := &guidon.Distribution{
			ID: NewID(), VariantID: in.VariantID, Rollout: in.Rollout,
			CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		r.Distributions = append(r.Distributions, d)
		return d, nil
	})
}

// UpdateDistribution replaces the variant and the share of a distribution. It returns
// NotFound if the distribution, its rule or flag, or the variant does not exist.
func (s *Service) UpdateDistribution(
	ctx context.Context, w Write, namespace string, in DistributionInput,
) (*guidon.Distribution, int64, error) {
	if err := cmp.Or(NotEmpty("id", in.ID), in.check()); err != nil {
		return nil, 0, err
	}
	return s.updateRule(ctx, w, namespace, in, func(tx Tx, r *guidon.Rule) (*guidon.Distribution, error) {
		d := r.Distribution(in.ID)
		if d == nil {
			return nil, guidon.Errorf(guidon.NotFound, "distribution %q not found", in.ID)
		}
		d.VariantID, d.Rollout, d.UpdatedAt = in.VariantID, in.Rollout, tx.Now()
		return d, nil
	})
}

// DeleteDistribution deletes the distribution with the given id, rule and variant. It
// is not an error if it does not exist.
func (s *Service) DeleteDistribution(ctx context.Context, w Write, namespace string, in DistributionInput) (int64, error) {
	if err := cmp.Or(NotEmpty("id", in.ID), in.checkKeys()); err != nil {
		return 0, err
	}
	return changeParts(ctx, s, w, namespace, flagObjects, in.FlagKey, func(f *guidon.Flag, _ time.Time) bool {
		r := f.Rule(in.RuleID)
		if r == nil {
			return false
		}
		before := len(r.Distributions)
		r.Distributions = slices.DeleteFunc(r.Distributions, func(d *guidon.Distribution) bool {
			return d.ID == in.ID && d.VariantID == in.VariantID
		})
		return len(r.Distributions) < before
	})
}

// updateRule calls change with the rule of in, after checking that its flag, rule and
// variant exist.
func (s *Service) updateRule(
	ctx context.Context, w Write, namespace string, in DistributionInput,
	change func(tx Tx, r *guidon.Rule) (*guidon.Distribution, error),
) (*guidon.Distribution, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	missing := guidon.Errorf(guidon.NotFound, "variant %q, rule %q, flag %q in namespace %q not found",
		in.VariantID, in.RuleID, in.FlagKey, namespace)
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(_ context.Context, tx Tx, f *guidon.Flag) (*guidon.Distribution, error) {
			r := f.Rule(in.RuleID)
			if r == nil || f.Variant(in.VariantID) == nil {
				return nil, missing
			}
			return change(tx, r)
		})
}

func (in DistributionInput) checkKeys() error {
	return requireAll(field{"flagKey", in.FlagKey}, field{"ruleId", in.RuleID}, field{"variantId", in.VariantID})
}

func (in DistributionInput) check() error {
	return cmp.Or(in.checkKeys(), checkRollout(in.Rollout))
}
