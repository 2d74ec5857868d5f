package guidon

import (
	"context"
	"errors"
)

// RuleInput is what a caller says of a rule. SegmentKey and SegmentKeys are two
// ways to say the same; exactly one is given.
type RuleInput struct {
	ID              string // on update only
	FlagKey         string
	SegmentKey      string
	SegmentKeys     []string
	SegmentOperator SegmentOperator
	Rank            int32 // on create only, from 1
}

// ListRules returns a page of the flag's rules, by rank. An unknown flag has none.
func (s *Service) ListRules(ctx context.Context, namespace, flagKey string, request PageRequest) ([]*Rule, Page, error) {
	if flagKey == "" {
		return nil, Page{}, emptyField("flagKey")
	}
	if err := request.validate(); err != nil {
		return nil, Page{}, err
	}
	f, err := s.flag(ctx, NamespaceKey(namespace), flagKey)
	if errors.Is(err, NotFound) {
		f = &Flag{}
	} else if err != nil {
		return nil, Page{}, err
	}
	return paginate(f.Rules, request, func(r *Rule) string { return r.ID })
}

// GetRule returns the rule, or NotFound.
func (s *Service) GetRule(ctx context.Context, namespace, flagKey, id string) (*Rule, error) {
	namespace = NamespaceKey(namespace)
	if err := requireAll(field{"id", id}, field{"flagKey", flagKey}); err != nil {
		return nil, err
	}
	f, err := s.flag(ctx, namespace, flagKey)
	if err != nil && !errors.Is(err, NotFound) {
		return nil, err
	}
	if f != nil {
		if r := f.Rule(id); r != nil {
			return r, nil
		}
	}
	return nil, ruleNotFound(namespace, id)
}

// CreateRule adds a rule to a flag. It returns NotFound when the flag or a
// segment does not exist.
func (s *Service) CreateRule(ctx context.Context, namespace string, in RuleInput) (*Rule, error) {
	namespace = NamespaceKey(namespace)
	if in.FlagKey == "" {
		return nil, emptyField("flagKey")
	}
	segmentKeys, err := in.check()
	if err != nil {
		return nil, err
	}
	if in.Rank <= 0 {
		return nil, invalidField("rank", "must be greater than 0")
	}
	missing := Errorf(NotFound, "flag %q or segment %q not found", namespace+"/"+in.FlagKey, namespace+"/"+in.SegmentKey)
	var created *Rule
	err = s.updateFlag(ctx, namespace, in.FlagKey, missing, func(ctx context.Context, tx Tx, f *Flag) error {
		if err := mustExist(ctx, tx, segmentKeys, missing); err != nil {
			return err
		}
		created = &Rule{
			ID: NewID(), SegmentKeys: segmentKeys, SegmentOperator: combine(segmentKeys, in.SegmentOperator),
			Rank: in.Rank, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		f.Rules = append(f.Rules, created)
		sortByRank(f.Rules, ruleRanking)
		return nil
	})
	return orNil(created, err)
}

// UpdateRule replaces the segments of a rule. It returns NotFound when the rule
// or a segment does not exist.
func (s *Service) UpdateRule(ctx context.Context, namespace string, in RuleInput) (*Rule, error) {
	namespace = NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}); err != nil {
		return nil, err
	}
	segmentKeys, err := in.check()
	if err != nil {
		return nil, err
	}
	missing := ruleNotFound(namespace, in.ID)
	var updated *Rule
	err = s.updateFlag(ctx, namespace, in.FlagKey, missing, func(ctx context.Context, tx Tx, f *Flag) error {
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
	return orNil(updated, err)
}

// OrderRules gives the listed rules the ranks 1, 2, 3, …. An id that is not of
// the flag uses up a rank; rules that are not listed keep theirs (contract 4.6).
func (s *Service) OrderRules(ctx context.Context, namespace, flagKey string, ids []string) error {
	if flagKey == "" {
		return emptyField("flagKey")
	}
	if len(ids) < 2 {
		return invalidField("ruleIds", "must contain atleast 2 elements")
	}
	return ignoreUnchanged(s.updateFlag(ctx, NamespaceKey(namespace), flagKey, errUnchanged, func(_ context.Context, tx Tx, f *Flag) error {
		return reorder(f.Rules, ruleRanking, ids, tx.Now())
	}))
}

// DeleteRule removes a rule and ranks the remaining ones 1 to n, also when the
// rule does not exist, which is no error (contract 4.7).
func (s *Service) DeleteRule(ctx context.Context, namespace, flagKey, id string) error {
	if err := requireAll(field{"id", id}, field{"flagKey", flagKey}); err != nil {
		return err
	}
	return ignoreUnchanged(s.updateFlag(ctx, NamespaceKey(namespace), flagKey, errUnchanged, func(_ context.Context, tx Tx, f *Flag) error {
		kept, err := removeRanked(f.Rules, ruleRanking, id, tx.Now())
		f.Rules = kept
		return err
	}))
}

// check checks what creating and updating have in common and returns the
// segments.
func (in RuleInput) check() ([]string, error) {
	segmentKeys, err := checkSegmentChoice(in.SegmentKey, in.SegmentKeys)
	if err != nil {
		return nil, err
	}
	return segmentKeys, checkEnum("segmentOperator", in.SegmentOperator)
}

// mustExist returns missing unless every segment exists in the namespace.
func mustExist(ctx context.Context, tx Tx, segmentKeys []string, missing error) error {
	for _, key := range segmentKeys {
		_, err := tx.Segment(ctx, key)
		if errors.Is(err, NotFound) {
			return missing
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func ruleNotFound(namespace, id string) error {
	return Errorf(NotFound, "rule %q not found", namespace+"/"+id)
}
