package management

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// anyText returns a random string with characters of every length and kind of escape.
func anyText(r *rand.Rand) string {
	letters := []string{"a", `"`, `\`, "\n", "\x01", "é", "😀", "<", "\xff"}
	var text strings.Builder
	for range r.IntN(40) {
		text.WriteString(letters[r.IntN(len(letters))])
	}
	return text.String()
}

func anySplit(r *rand.Rand) *guidon.Split {
	return []*guidon.Split{nil, {By: anyText(r), Seed: anyText(r), Hash: guidon.FliptFineHash}}[r.IntN(2)]
}

func anyRequirements(r *rand.Rand) (all []guidon.Requirement) {
	for range r.IntN(11) {
		q := guidon.Requirement{FlagKey: anyText(r)}
		for range r.IntN(3) {
			q.Answers = append(q.Answers, anyText(r))
		}
		all = append(all, q)
	}
	return all
}

func anyConditions(r *rand.Rand) guidon.Conditions {
	c := guidon.Conditions{Everyone: true, Requires: anyRequirements(r), Portion: &guidon.Portion{Percentage: 33.333332, Start: 33.333332}}
	if split := anySplit(r); split != nil {
		c.Portion.Split = *split
	}
	for range r.IntN(3) {
		c.ExceptSegmentKeys = append(c.ExceptSegmentKeys, anyText(r))
	}
	for range r.IntN(3) {
		g := &guidon.ConstraintGroup{MatchType: guidon.MatchAll}
		for range r.IntN(3) {
			g.Constraints = append(g.Constraints, &guidon.Constraint{
				Type: guidon.EntityIDComparison, Property: anyText(r), Operator: anyText(r), Value: anyText(r), Description: anyText(r), Negate: true,
			})
		}
		c.Groups = append(c.Groups, g)
	}
	return c
}

// TestWeights checks that weights are never less than the encoded size of an object, in
// JSON and in protobuf.
func TestWeights(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	at := time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)
	list := &flipt.ListRuleRequest{NamespaceKey: "namespace", FlagKey: "flag"}
	check := func(what string, m proto.Message, weight int) {
		t.Helper()
		text, err := codec.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if got := max(len(text), proto.Size(m)); got > weight {
			t.Errorf("%s: takes %d bytes, weighs %d: %s", what, got, weight, text)
		}
	}
	for range 2000 {
		text := func() string { return anyText(r) }
		metadata, _ := json.Marshal(map[string]any{text(): []any{1, true, nil, text(), []any{}, map[string]any{"": 0.1}}, "n": 1e20})
		f := &guidon.Flag{Key: text(), Name: text(), Description: text(), Type: guidon.VariantFlag, Enabled: true, Metadata: metadata, CreatedAt: at, UpdatedAt: at, DefaultVariantID: "1", Requires: anyRequirements(r)}
		for i := range r.IntN(4) {
			f.Variants = append(f.Variants, &guidon.Variant{ID: fmt.Sprint(i), Key: text(), Name: text(), Description: text(), Attachment: text(), CreatedAt: at, UpdatedAt: at})
		}
		check("flag", wireFlag(list)(f), convert.FlagWeight("namespace")(f))
		rule := &guidon.Rule{ID: text(), SegmentKeys: []string{text(), text()}, SegmentOperator: guidon.AndSegments, Rank: -1 << 31, CreatedAt: at, UpdatedAt: at}
		rule.Conditions, rule.Split, rule.CodeDefault = anyConditions(r).OrNil(), anySplit(r), true
		rule.Distributions = []*guidon.Distribution{{ID: text(), VariantID: text(), Rollout: 33.333332, CreatedAt: at, UpdatedAt: at}}
		check("rule", wireRule(list)(rule), convert.Weight[guidon.Rule]("namespace", "flag")(rule))
		rollout := &guidon.Rollout{ID: text(), Rank: -1 << 31, Description: text(), CreatedAt: at, UpdatedAt: at,
			Segment: &guidon.RolloutSegment{SegmentKeys: []string{text(), text()}, SegmentOperator: guidon.AndSegments}}
		rollout.Conditions = anyConditions(r).OrNil()
		check("rollout", wireRollout("namespace", "flag")(rollout), convert.Weight[guidon.Rollout]("namespace", "flag")(rollout))
		rollout.Segment, rollout.Threshold, rollout.Conditions = nil, &guidon.RolloutThreshold{Percentage: 33.333332, Value: true, Start: 33.333332, Split: anySplit(r)}, nil
		check("rollout", wireRollout("namespace", "flag")(rollout), convert.Weight[guidon.Rollout]("namespace", "flag")(rollout))
		g := &guidon.Segment{Key: text(), Name: text(), Description: text(), CreatedAt: at, UpdatedAt: at}
		for range r.IntN(3) {
			g.Constraints = append(g.Constraints, &guidon.Constraint{ID: text(), Type: guidon.EntityIDComparison, Property: text(), Operator: text(), Value: text(), Description: text(), CreatedAt: at, UpdatedAt: at})
		}
		check("segment", wireSegment(list)(g), convert.Weight[guidon.Segment]("namespace")(g))
		n := &guidon.Namespace{Key: text(), Name: text(), Description: text(), Protected: true, Color: guidon.Color(text()), ConfirmChanges: true, CreatedAt: at, UpdatedAt: at}
		check("namespace", wireNamespace(n), convert.Weight[guidon.Namespace]()(n))
		c := &change.Record{Namespace: text(), Revision: -1 << 63, Sequence: -1 << 31, Kind: change.KindNamespace, Key: text(), Action: change.ActionCreate,
			Actor: change.Actor{ID: text(), Name: text(), Method: text()}, At: at, RequestID: text(), Before: metadata, After: metadata}
		check("change", convert.Change(c), convert.Weight[change.Record]()(c))
	}
}
