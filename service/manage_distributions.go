package service

import (
	"context"
	"slices"

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
	var created *guidon.Distribution
	revision, err := s.updateRule(ctx, w, guidon.NamespaceKey(namespace), in, func(tx Tx, r *guidon.Rule) error {
		created = &guidon.Distribution{
			ID: NewID(), VariantID: in.VariantID, Rollout: in.Rollout,
			CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		r.Distributions = append(r.Distributions, created)
		return nil
	})
	return orNil(created, revision, err)
}

// UpdateDistribution replaces the variant and the share of a distribution. It returns
// NotFound if the distribution, its rule or flag, or the variant does not exist.
func (s *Service) UpdateDistribution(
	ctx context.Context, w Write, namespace string, in DistributionInput,
) (*guidon.Distribution, int64, error) {
	if in.ID == "" {
		return nil, 0, emptyField("id")
	}
	if err := in.check(); err != nil {
		return nil, 0, err
	}
	var updated *guidon.Distribution
	revision, err := s.updateRule(ctx, w, guidon.NamespaceKey(namespace), in, func(tx Tx, r *guidon.Rule) error {
		d := r.Distribution(in.ID)
		if d == nil {
			return guidon.Errorf(guidon.NotFound, "distribution %q not found", in.ID)
		}
		d.VariantID, d.Rollout, d.UpdatedAt = in.VariantID, in.Rollout, tx.Now()
		updated = d
		return nil
	})
	return orNil(updated, revision, err)
}

// DeleteDistribution deletes the distribution with the given id, rule and variant. It
// is not an error if it does not exist.
func (s *Service) DeleteDistribution(ctx context.Context, w Write, namespace string, in DistributionInput) (int64, error) {
	if in.ID == "" {
		return 0, emptyField("id")
	}
	if err := in.checkKeys(); err != nil {
		return 0, err
	}
	return ignoreUnchanged(s.updateFlag(ctx, w, guidon.NamespaceKey(namespace), in.FlagKey, errUnchanged,
		func(_ context.Context, _ Tx, f *guidon.Flag) error {
			r := f.Rule(in.RuleID)
			if r == nil {
				return errUnchanged
			}
			d := r.Distribution(in.ID)
			if d == nil || d.VariantID != in.VariantID {
				return errUnchanged
			}
			r.Distributions = slices.DeleteFunc(r.Distributions, func(other *guidon.Distribution) bool { return other == d })
			return nil
		}))
}

// updateRule calls change with the rule of in, after checking that its flag, rule and
// variant exist.
func (s *Service) updateRule(
	ctx context.Context, w Write, namespace string, in DistributionInput, change func(tx Tx, r *guidon.Rule) error,
) (int64, error) {
	missing := guidon.Errorf(guidon.NotFound, "variant %q, rule %q, flag %q in namespace %q not found",
		in.VariantID, in.RuleID, in.FlagKey, namespace)
	return s.updateFlag(ctx, w, namespace, in.FlagKey, missing, func(_ context.Context, tx Tx, f *guidon.Flag) error {
		r := f.Rule(in.RuleID)
		if r == nil || f.Variant(in.VariantID) == nil {
			return missing
		}
		return change(tx, r)
	})
}

func (in DistributionInput) checkKeys() error {
	return requireAll(field{"flagKey", in.FlagKey}, field{"ruleId", in.RuleID}, field{"variantId", in.VariantID})
}

func (in DistributionInput) check() error {
	if err := in.checkKeys(); err != nil {
		return err
	}
	return checkRollout(in.Rollout)
}
