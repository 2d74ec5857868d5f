package convert

import (
	"cmp"
	"slices"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
	"github.com/guidonhq/guidon/service"
)

// Limits of the summary of a flag.
const (
	maxSummaryText   = 240 // bytes of a description
	maxSummaryShares = 20
	maxSummaryTags   = 20
)

// FlagSummary returns the message of the summary of a flag.
func FlagSummary(s *service.FlagSummary) *guidonv1.FlagSummary {
	f := s.Flag
	shares := s.Summary.EveryoneElse
	m := &guidonv1.FlagSummary{
		Key: f.Key, Name: f.Name, Description: guidon.Shorten(f.Description, maxSummaryText),
		Type: FlagType(f.Type), Enabled: f.Enabled, State: guidonv1.FlagState(s.Summary.State),
		EveryoneElse: lists.Map(shares[:min(len(shares), maxSummaryShares)], func(a analysis.AnswerShare) *guidonv1.FlagShare {
			return flagShare(f, a)
		}),
		MoreShares:   Count(max(0, len(shares)-maxSummaryShares)),
		SegmentCount: Count(s.Segments), StepCount: Count(len(f.Rules) + len(f.Rollouts)), VariantCount: Count(len(f.Variants)),
		Owner: s.Owner, Tags: s.Tags[:min(len(s.Tags), maxSummaryTags)], MoreTags: Count(max(0, len(s.Tags)-maxSummaryTags)),
		Review: s.Review, ReviewPassed: s.ReviewPassed, TurnedOff: service.TurnedOff(f), OwnState: ownState(s.Summary.State, s.Summary.Own),
		CreatedAt: Timestamp(f.CreatedAt), UpdatedAt: Timestamp(f.UpdatedAt), Unreadable: ErrorText(s.Err),
	}
	if f.Type == guidon.VariantFlag && !f.Enabled {
		m.WhileOff = flagShare(f, shares[0])
	}
	if s.FirstSegment.Key != "" {
		m.FirstSegment = &guidonv1.SegmentName{Key: s.FirstSegment.Key, Name: s.FirstSegment.Name}
	}
	return m
}

// FlagNamespace returns the message of what a flag is in one namespace.
func FlagNamespace(in service.FlagNamespace) *guidonv1.FlagNamespace {
	m := &guidonv1.FlagNamespace{
		NamespaceKey: in.Namespace.Key, NamespaceName: in.Namespace.Name, Revision: in.Revision,
		Same: in.Same, Unavailable: ErrorText(in.Err),
	}
	if in.Flag != nil {
		m.Flag = FlagSummary(in.Flag)
	}
	return m
}

// ownState returns the own state of a flag, or nil if that is its state.
func ownState(state, own analysis.FlagState) *guidonv1.FlagState {
	if own == state {
		return nil
	}
	return new(guidonv1.FlagState(own))
}

// FlagWords returns what a flag does for everyone else in words, such as "off", "on for 20%" or "on: a 50%, b 50%".
func FlagWords(f *guidonv1.FlagSummary) string {
	state := [...]string{"off", "on", "partly on"}[f.GetState()]
	if f.GetState() == guidonv1.FlagState_OFF_FLAG_STATE {
		return state
	}
	var shares []string
	for _, s := range f.GetEveryoneElse() {
		percentage := analysis.PercentWords(s.GetPercentage())
		switch boolean := f.GetType() == flipt.FlagType_BOOLEAN_FLAG_TYPE; {
		case boolean && s.GetEnabled() && s.GetPercentage() < 100:
			return "on for " + percentage
		case !boolean:
			shares = append(shares, cmp.Or(s.GetVariantKey(), "nothing")+" "+percentage)
		}
	}
	if len(shares) == 0 {
		return state
	}
	return state + ": " + strings.Join(shares, ", ")
}

// FlagType returns the type on the wire: the first one for a flag that cannot be read.
func FlagType(t guidon.FlagType) flipt.FlagType {
	if !t.Known() {
		return 0
	}
	return flipt.FlagType(t)
}

// ErrorText returns the message of the error for clients, or nil if there is none.
func ErrorText(err error) *string {
	if err == nil {
		return nil
	}
	return new(guidon.PublicMessage(err))
}

func flagShare(f *guidon.Flag, a analysis.AnswerShare) *guidonv1.FlagShare {
	m := &guidonv1.FlagShare{Percentage: a.Percentage(), Enabled: a.Enabled, ByDefault: a.Default, Fails: a.Fails}
	if a.Variant != nil {
		m.VariantKey, m.VariantIndex = a.Variant.Key, Count(slices.Index(f.Variants, a.Variant))
	}
	return m
}

// FlagFacets returns the message of the facets. nameOf returns the name of a segment.
func FlagFacets(f *service.FlagFacets, nameOf func(segment string) string) *guidonv1.FlagFacets {
	m := &guidonv1.FlagFacets{
		Owners: facetCounts(f.Owners, nil), MoreOwners: Count(f.Owners.More),
		Tags: facetCounts(f.Tags, nil), MoreTags: Count(f.Tags.More),
		Segments: facetCounts(f.Segments, nameOf), MoreSegments: Count(f.Segments.More),
	}
	for _, state := range []analysis.FlagState{analysis.OnState, analysis.PartlyState, analysis.OffState} {
		m.States = append(m.States, &guidonv1.FlagStateCount{State: guidonv1.FlagState(state), Count: Count(f.States[state])})
	}
	for _, t := range []guidon.FlagType{guidon.BooleanFlag, guidon.VariantFlag} {
		m.Types = append(m.Types, &guidonv1.FlagTypeCount{Type: flipt.FlagType(t), Count: Count(f.Types[t])})
	}
	return m
}

func facetCounts(f service.FacetCounts, nameOf func(value string) string) []*guidonv1.FacetCount {
	return lists.Map(f.Counts, func(c service.FacetCount) *guidonv1.FacetCount {
		m := &guidonv1.FacetCount{Value: c.Value, Count: Count(c.Count)}
		if nameOf != nil {
			m.Name = nameOf(c.Value)
		}
		return m
	})
}

// SegmentSummary returns the message of the summary of a segment.
func SegmentSummary(s service.SegmentSummary) *guidonv1.SegmentSummary {
	g := s.Segment
	if g.Unreadable != nil {
		return &guidonv1.SegmentSummary{Key: g.Key, Name: g.Name, FlagCount: Count(s.Flags), Unreadable: ErrorText(g.Unreadable.Err)}
	}
	return &guidonv1.SegmentSummary{
		Key: g.Key, Name: g.Name, Description: guidon.Shorten(g.Description, maxSummaryText),
		MatchType: flipt.MatchType(g.MatchType), Conditions: s.Conditions,
		ConstraintCount: Count(len(g.Constraints)), Everyone: len(g.Constraints) == 0, FlagCount: Count(s.Flags),
		CreatedAt: Timestamp(g.CreatedAt), UpdatedAt: Timestamp(g.UpdatedAt),
	}
}

func flagUsage(u *service.FlagUsage) *guidonv1.FlagUsage {
	if u == nil {
		return nil
	}
	return &guidonv1.FlagUsage{
		Verdict: guidonv1.FlagVerdict(u.Verdict), LastEvaluatedAt: Timestamp(u.LastAt), CountedSince: Timestamp(u.Since),
		Evaluations: float64(u.Evaluations), Downloads: float64(u.Downloads),
	}
}

// UnusedFlag returns the message of a flag that may no longer be needed.
func UnusedFlag(u service.UnusedFlag) *guidonv1.UnusedFlag {
	return &guidonv1.UnusedFlag{
		Flag:  FlagSummary(&u.FlagSummary),
		Usage: flagUsage(u.Usage),
		Reasons: lists.Map(u.Reasons, func(r service.UnusedReason) *guidonv1.UnusedReason {
			return &guidonv1.UnusedReason{Kind: guidonv1.UnusedReasonKind(r.Kind), Text: r.Text}
		}),
	}
}

// Property returns the message of a property.
func Property(p *service.Property) *guidonv1.Property {
	return &guidonv1.Property{
		Name: p.Name, Values: p.Values, MoreValues: p.More,
		Types: lists.Map(p.Types, func(t service.PropertyType) *guidonv1.PropertyType {
			return &guidonv1.PropertyType{Type: flipt.ComparisonType(t.Type), Count: Count(t.Count)}
		}),
	}
}

// SearchGroup returns the message of hits of one kind.
func SearchGroup(g service.SearchGroup) *guidonv1.SearchGroup {
	return &guidonv1.SearchGroup{
		TotalCount: Count(g.Total),
		Hits: lists.Map(g.Hits, func(h service.SearchHit) *guidonv1.SearchHit {
			return &guidonv1.SearchHit{
				Kind: guidonv1.SearchHitKind(h.Kind), NamespaceKey: h.Namespace.Key, NamespaceName: h.Namespace.Name,
				Key: h.Key, Name: h.Name, Type: FlagType(h.Type), State: guidonv1.FlagState(h.State), FlagCount: Count(h.Flags),
				OwnState: ownState(h.State, h.Own),
			}
		}),
	}
}
