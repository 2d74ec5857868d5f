package service

import (
	"context"
	"errors"

	"github.com/guidonhq/guidon"
)

// RuleInput holds the arguments to create or update a rule. Exactly one of SegmentKey
// and SegmentKeys must be set.
type RuleInput struct {
	ID              string // on update only
	FlagKey         string
	SegmentKey      string
	SegmentKeys     []string
	SegmentOperator guidon.SegmentOperator
	Rank            int32 // on create only; at least 1
}

// CreateRule adds a rule without distributions to a flag. It returns NotFound if the flag
// or a segment does not exist. Several rules may have the same rank.
func (s *Service) CreateRule(ctx context.Context, w Write, namespace string, in RuleInput) (*guidon.Rule, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if in.FlagKey == "" {
		return nil, 0, emptyField("flagKey")
	}
	segmentKeys, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	if in.Rank <= 0 {
		return nil, 0, invalidField("rank", "must be greater than 0")
	}
	missing := guidon.Errorf(guidon.NotFound, "flag %q or segment %q not found", namespace+"/"+in.FlagKey, namespace+"/"+in.SegmentKey)
	var created *guidon.Rule
	revision, err := s.updateFlag(ctx, w, namespace, in.FlagKey, missing, func(ctx context.Context, tx Tx, f *guidon.Flag) error {
		if err := mustExist(ctx, tx, segmentKeys, missing); err != nil {
			return err
		}
		created = &guidon.Rule{
			ID: NewID(), SegmentKeys: segmentKeys, SegmentOperator: combine(segmentKeys, in.SegmentOperator),
			Rank: in.Rank, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		f.Rules = append(f.Rules, created)
		sortByRank(f.Rules, ruleRanking)
		return nil
	})
	return orNil(created, revision, err)
}

// UpdateRule replaces the segments of a rule. It returns NotFound if the rule or a
// segment does not exist.
func (s *Service) UpdateRule(ctx context.Context, w Write, namespace string, in RuleInput) (*guidon.Rule, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}); err != nil {
		return nil, 0, err
	}
	segmentKeys, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	missing := ruleNotFound(namespace, in.ID)
	var updated *guidon.Rule
	revision, err := s.updateFlag(ctx, w, namespace, in.FlagKey, missing, func(ctx context.Context, tx Tx, f *guidon.Flag) error {
		r := f.Rule(in.ID)
		if r == nil {
			return missing
		}
		if err := mustExist(ctx, tx, segmentKeys, missing); err != nil {
			return err
		}
		r.SegmentKeys, r.SegmentOperator = segmentKeys, combine(segmentKeys, in.SegmentOperator)
		r.UpdatedAt = tx.Now()
		updated = r
		return nil
	})
	return orNil(updated, revision, err)
}

// OrderRules assigns the ranks 1, 2, 3, … to the rules with the ids, of which there must
// be at least two. An id that does not exist uses up a rank, and rules without an id in
// ids keep theirs (contract 4.6). It is not an error if the flag does not exist.
func (s *Service) OrderRules(ctx context.Context, w Write, namespace, flagKey string, ids []string) (int64, error) {
	if flagKey == "" {
		return 0, emptyField("flagKey")
	}
	if len(ids) < 2 {
		return 0, invalidField("ruleIds", "must contain atleast 2 elements")
	}
	return ignoreUnchanged(s.updateFlag(ctx, w, guidon.NamespaceKey(namespace), flagKey, errUnchanged,
		func(_ context.Context, tx Tx, f *guidon.Flag) error {
			return reorder(f.Rules, ruleRanking, ids, tx.Now())
		}))
}

// DeleteRule deletes a rule and assigns the ranks 1 to n to the remaining ones. If the
// rule does not exist, it only does the latter (contract 4.7).
func (s *Service) DeleteRule(ctx context.Context, w Write, namespace, flagKey, id string) (int64, error) {
	if err := requireAll(field{"id", id}, field{"flagKey", flagKey}); err != nil {
		return 0, err
	}
	return ignoreUnchanged(s.updateFlag(ctx, w, guidon.NamespaceKey(namespace), flagKey, errUnchanged,
		func(_ context.Context, tx Tx, f *guidon.Flag) error {
			kept, err := removeRanked(f.Rules, ruleRanking, id, tx.Now())
			f.Rules = kept
			return err
		}))
}

// check makes the checks common to create and update, and returns the segment keys.
func (in RuleInput) check() ([]string, error) {
	segmentKeys, err := checkSegmentChoice(in.SegmentKey, in.SegmentKeys)
	if err != nil {
		return nil, err
	}
	return segmentKeys, checkEnum("segmentOperator", in.SegmentOperator)
}

// mustExist returns missing unless all segments exist in the namespace.
func mustExist(ctx context.Context, tx Tx, segmentKeys []string, missing error) error {
	for _, key := range segmentKeys {
		_, err := tx.Segment(ctx, key)
		if errors.Is(err, guidon.NotFound) {
			return missing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func ruleNotFound(namespace, id string) error {
	return guidon.Errorf(guidon.NotFound, "rule %q not found", namespace+"/"+id)
}
