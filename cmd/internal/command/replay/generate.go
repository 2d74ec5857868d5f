package replay

import (
	"cmp"
	"context"
	"iter"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/internal/lists"
)

// Generator makes requests from the flags of a service.
type Generator struct {
	From, To   client.Client
	Namespaces []string // all those of From without any
	PerFlag    int      // maximum number of requests for one flag
	Cut        int      // flags that would have more; valid after the last request
}

// Requests returns for each flag of From requests about both sides of everything that its
// rules compare, and one for each flag that only To has.
func (g *Generator) Requests(ctx context.Context) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		if err := g.generate(ctx, func(r Request) bool { return yield(r, nil) }); err != nil {
			yield(Request{}, err)
		}
	}
}

func (g *Generator) generate(ctx context.Context, yield func(Request) bool) error {
	namespaces := g.Namespaces
	if len(namespaces) == 0 {
		all, err := cli.AllNamespaces(ctx, g.From)
		if err != nil {
			return sideError("--from", err)
		}
		namespaces = lists.Map(all, (*flipt.Namespace).GetKey)
	}
	for _, namespace := range namespaces {
		more, err := g.namespace(ctx, namespace, yield)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// namespace yields the requests of a namespace, and reports whether to go on.
func (g *Generator) namespace(ctx context.Context, namespace string, yield func(Request) bool) (bool, error) {
	segments, err := segmentsOf(ctx, g.From, namespace)
	if err != nil {
		return false, sideError("--from", err)
	}
	flags, err := flagsOf(ctx, g.From, namespace)
	if err != nil {
		return false, sideError("--from", err)
	}
	known := make(map[string]bool, len(flags))
	for _, f := range flags {
		known[f.GetKey()] = true
		flag, err := flagOf(ctx, g.From, namespace, f)
		if err != nil {
			return false, sideError("--from", err)
		}
		probes, cut := analysis.Probes(flag, segments, g.PerFlag)
		if cut {
			g.Cut++
		}
		for _, p := range probes {
			if !yield(Request{Namespace: namespace, Flag: flag.Key, Entity: entityOf(p), Context: p.Context}) {
				return false, nil
			}
		}
	}
	others, err := flagsOf(ctx, g.To, namespace)
	if isAboutRequest(err) {
		return true, nil // there is no such namespace, as the evaluations show
	}
	if err != nil {
		return false, sideError("--to", err)
	}
	for _, f := range others {
		if !known[f.GetKey()] && !yield(Request{Namespace: namespace, Flag: f.GetKey(), Entity: "probe"}) {
			return false, nil
		}
	}
	return true, nil
}

// entityOf returns the id of the entity. Clients do not evaluate without one.
func entityOf(p analysis.Probe) string {
	return cmp.Or(p.EntityID, "probe")
}

const pageSize = 100

func flagsOf(ctx context.Context, c client.Client, namespace string) (list []*flipt.Flag, err error) {
	err = cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[flipt.FlagList](ctx, c, "/flipt.Flipt/ListFlags",
			&flipt.ListFlagRequest{NamespaceKey: namespace, Limit: pageSize, PageToken: token})
		list = append(list, page.GetFlags()...)
		return page.GetNextPageToken(), err
	})
	return list, err
}

func segmentsOf(ctx context.Context, c client.Client, namespace string) (map[string]*guidon.Segment, error) {
	segments := make(map[string]*guidon.Segment)
	err := cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[flipt.SegmentList](ctx, c, "/flipt.Flipt/ListSegments",
			&flipt.ListSegmentRequest{NamespaceKey: namespace, Limit: pageSize, PageToken: token})
		for _, s := range page.GetSegments() {
			segments[s.GetKey()] = segmentOf(s)
		}
		return page.GetNextPageToken(), err
	})
	return segments, err
}

func segmentOf(s *flipt.Segment) *guidon.Segment {
	segment := &guidon.Segment{Key: s.GetKey(), MatchType: guidon.MatchType(s.GetMatchType())} // #nosec G115 -- an enum of the wire
	for _, c := range s.GetConstraints() {
		segment.Constraints = append(segment.Constraints, &guidon.Constraint{
			ID: c.GetId(), Type: guidon.ComparisonType(c.GetType()), // #nosec G115 -- the same
			Property: c.GetProperty(), Operator: c.GetOperator(), Value: c.GetValue(), Negate: c.GetNegate(),
		})
	}
	return segment
}

// flagOf returns the flag with its rules.
func flagOf(ctx context.Context, c client.Client, namespace string, f *flipt.Flag) (*guidon.Flag, error) {
	flag := &guidon.Flag{Key: f.GetKey(), Type: guidon.FlagType(f.GetType()), Enabled: f.GetEnabled()} // #nosec G115 -- an enum of the wire
	if flag.Type == guidon.BooleanFlag {
		return flag, addRollouts(ctx, c, namespace, flag)
	}
	return flag, addRules(ctx, c, namespace, flag)
}

func addRules(ctx context.Context, c client.Client, namespace string, flag *guidon.Flag) error {
	return cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[flipt.RuleList](ctx, c, "/flipt.Flipt/ListRules",
			&flipt.ListRuleRequest{NamespaceKey: namespace, FlagKey: flag.Key, Limit: pageSize, PageToken: token})
		for _, r := range page.GetRules() {
			rule := &guidon.Rule{
				ID: r.GetId(), SegmentKeys: r.GetSegmentKeys(), SegmentOperator: guidon.SegmentOperator(r.GetSegmentOperator()), // #nosec G115 -- an enum of the wire
				Conditions: convert.ConditionsOf(r), Split: convert.SplitOf(r.GetSplit()), CodeDefault: r.GetCodeDefault(),
			}
			if len(rule.SegmentKeys) == 0 && r.GetSegmentKey() != "" {
				rule.SegmentKeys = []string{r.GetSegmentKey()}
			}
			for _, d := range r.GetDistributions() {
				rule.Distributions = append(rule.Distributions, &guidon.Distribution{VariantID: d.GetVariantId(), Rollout: d.GetRollout()})
			}
			flag.Rules = append(flag.Rules, rule)
		}
		return page.GetNextPageToken(), err
	})
}

func addRollouts(ctx context.Context, c client.Client, namespace string, flag *guidon.Flag) error {
	return cli.Pages(func(token string) (string, error) {
		page, err := cli.Call[flipt.RolloutList](ctx, c, "/flipt.Flipt/ListRollouts",
			&flipt.ListRolloutRequest{NamespaceKey: namespace, FlagKey: flag.Key, Limit: pageSize, PageToken: token})
		for _, r := range page.GetRules() {
			rollout := &guidon.Rollout{ID: r.GetId(), Conditions: convert.ConditionsOf(r)}
			if t := r.GetThreshold(); t != nil {
				rollout.Threshold = &guidon.RolloutThreshold{
					Percentage: t.GetPercentage(), Value: t.GetValue(), Start: t.GetStart(), Split: convert.SplitOf(t.GetSplit()),
				}
			}
			if s := r.GetSegment(); s != nil {
				rollout.Segment = &guidon.RolloutSegment{SegmentKeys: s.GetSegmentKeys(), SegmentOperator: guidon.SegmentOperator(s.GetSegmentOperator())} // #nosec G115 -- the same
				//lint:ignore SA1019 Flipt has it instead of a list of one
				if key := s.GetSegmentKey(); key != "" && len(rollout.Segment.SegmentKeys) == 0 {
					rollout.Segment.SegmentKeys = []string{key}
				}
			}
			flag.Rollouts = append(flag.Rollouts, rollout)
		}
		return page.GetNextPageToken(), err
	})
}
