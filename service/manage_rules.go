package service

import (
	"context"
	"errors"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// RuleInput holds the arguments to create or update a rule. At most one of SegmentKey and
// SegmentKeys may be set, and one must, unless the rule has groups or is for everyone.
type RuleInput struct {
	FlagKey    string
	SegmentKey string
	// The ID is for updates, and the Rank, which is at least 1, for new rules. The distributions
	// and the times are not used.
	guidon.Rule
}

// CreateRule adds a rule without distributions to a flag. It returns NotFound if the flag
// or a segment does not exist. Several rules may have the same rank.
func (s *Service) CreateRule(ctx context.Context, w Write, namespace string, in RuleInput) (*guidon.Rule, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if in.FlagKey == "" {
		return nil, 0, emptyField("flagKey")
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	if in.Rank <= 0 {
		return nil, 0, invalidField("rank", "must be greater than 0")
	}
	missing := guidon.Errorf(guidon.NotFound, "flag %q or segment %q not found", namespace+"/"+in.FlagKey, namespace+"/"+in.SegmentKey)
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(ctx context.Context, tx Tx, f *guidon.Flag) (*guidon.Rule, error) {
			r := *checked
			r.ID, r.Rank, r.CreatedAt, r.UpdatedAt = NewID(), in.Rank, tx.Now(), tx.Now()
			f.Rules = append(f.Rules, &r)
			sortByRank(f.Rules, ruleHeader)
			return &r, mustExist(ctx, tx, &guidon.Flag{Rules: []*guidon.Rule{&r}}, missing)
		})
}

// UpdateRule replaces the segments of a rule, and its additions. It returns NotFound if the
// rule or a segment does not exist, and FailedPrecondition if the rule has additions and the
// input states none.
func (s *Service) UpdateRule(ctx context.Context, w Write, namespace string, in RuleInput) (*guidon.Rule, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := requireAll(field{"id", in.ID}, field{"flagKey", in.FlagKey}); err != nil {
		return nil, 0, err
	}
	checked, err := in.check()
	if err != nil {
		return nil, 0, err
	}
	missing := ruleNotFound(namespace, in.ID)
	return updateObject(ctx, s, w, namespace, flagObjects, in.FlagKey, missing,
		func(ctx context.Context, tx Tx, f *guidon.Flag) (*guidon.Rule, error) {
			r := f.Rule(in.ID)
			if r == nil {
				return nil, missing
			}
			switch {
			case len(r.Distributions) > 0 && in.CodeDefault:
				return nil, errCodeDefault
			case r.Additions() && !in.Additions():
				return nil, notStated(slices.Index(f.Rules, r))
			}
			changed := *checked
			changed.ID, changed.Rank, changed.Distributions = r.ID, r.Rank, r.Distributions
			changed.CreatedAt, changed.UpdatedAt = r.CreatedAt, tx.Now()
			*r = changed
			return r, mustExist(ctx, tx, &guidon.Flag{Rules: []*guidon.Rule{r}}, missing)
		})
}

// OrderRules assigns the ranks 1, 2, 3, … to the rules with the ids, of which there must
// be at least two. An id that does not exist uses up a rank, and rules without an id in
// ids keep theirs (contract 4.6). It is not an error if the flag does not exist.
func (s *Service) OrderRules(ctx context.Context, w Write, namespace, flagKey string, ids []string) (int64, error) {
	return order(ctx, s, w, namespace, flagKey, "ruleIds", ids, flagRules, ruleHeader)
}

// DeleteRule deletes a rule and assigns the ranks 1 to n to the remaining ones. If the
// rule does not exist, it only does the latter (contract 4.7).
func (s *Service) DeleteRule(ctx context.Context, w Write, namespace, flagKey, id string) (int64, error) {
	return deleteRanked(ctx, s, w, namespace, flagKey, id, flagRules, ruleHeader)
}

func flagRules(f *guidon.Flag) *[]*guidon.Rule { return &f.Rules }

// check makes the checks common to create and update, and returns what the rule states, in its
// stored form.
func (in RuleInput) check() (*guidon.Rule, error) {
	keys, conditions, err := checkTarget(in.SegmentKey, in.SegmentKeys, in.Conditions)
	if err != nil {
		return nil, err
	}
	if err := checkEnum("segmentOperator", in.SegmentOperator); err != nil {
		return nil, err
	}
	return &guidon.Rule{
		SegmentKeys: keys, SegmentOperator: change.OperatorFor(keys, in.SegmentOperator),
		Split: in.Split, CodeDefault: in.CodeDefault, Conditions: conditions,
	}, checkSplit("split", in.Split)
}

var errCodeDefault = invalidField("codeDefault", "cannot be combined with distributions")

// notStated is the error of an update by a client that does not know what the rule with the
// index has: it would drop that.
func notStated(index int) error {
	return guidon.Errorf(guidon.FailedPrecondition, "rule %d has conditions that this request does not state; use ReplaceFlag", index+1)
}

// mustExist returns missing unless all segments of the rules exist in the namespace.
func mustExist(ctx context.Context, tx Tx, rules *guidon.Flag, missing error) error {
	for key := range rules.SegmentKeys() {
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
