package server_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// TestGRPCConditions: the messages of rules and rollouts carry each addition, and a request that
// states none does not drop them.
func TestGRPCConditions(t *testing.T) {
	in := start(t, nil)
	in.must("/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "v", Name: "V"}, &flipt.Flag{})
	in.must("/flipt.Flipt/CreateFlag", &flipt.CreateFlagRequest{Key: "b", Name: "B", Type: flipt.FlagType_BOOLEAN_FLAG_TYPE}, &flipt.Flag{})
	in.must("/flipt.Flipt/CreateSegment", &flipt.CreateSegmentRequest{Key: "s", Name: "S"}, &flipt.Segment{})
	groups := []*flipt.ConstraintGroup{{Match: flipt.MatchType_ANY_MATCH_TYPE, Constraints: []*flipt.GroupConstraint{
		{Type: flipt.ComparisonType_VERSION_COMPARISON_TYPE, Property: "app", Operator: "gte", Value: "2.4", Negate: true},
	}}}
	split := &flipt.Split{By: "account", Seed: "layer", Hash: flipt.BucketHash_FLIPT_FINE_BUCKET_HASH}
	portion := &flipt.Portion{Percentage: 12.5, Start: 50, Split: split}

	rule, got := &flipt.Rule{}, &flipt.Rule{}
	in.must("/flipt.Flipt/CreateRule", &flipt.CreateRuleRequest{
		FlagKey: "v", Rank: 1, Groups: groups, ExceptSegmentKeys: []string{"s"}, Portion: portion, Split: split, CodeDefault: true,
	}, rule)
	want := &flipt.Rule{Groups: groups, ExceptSegmentKeys: []string{"s"}, Portion: portion, Split: split, CodeDefault: true}
	in.must("/flipt.Flipt/GetRule", &flipt.GetRuleRequest{FlagKey: "v", Id: rule.GetId()}, got)
	for _, r := range []*flipt.Rule{rule, got} {
		r = proto.CloneOf(r)
		r.Id, r.FlagKey, r.NamespaceKey, r.Rank, r.CreatedAt, r.UpdatedAt = "", "", "", 0, nil, nil
		if diff := cmp.Diff(want, r, protocmp.Transform()); diff != "" {
			t.Errorf("rule (-want +got):\n%s", diff)
		}
	}
	rollout := &flipt.Rollout{}
	in.must("/flipt.Flipt/CreateRollout", &flipt.CreateRolloutRequest{FlagKey: "b", Rule: &flipt.CreateRolloutRequest_Threshold{
		Threshold: &flipt.RolloutThreshold{Percentage: 12.5, Start: 50, Split: split},
	}}, rollout)
	if diff := cmp.Diff(&flipt.RolloutThreshold{Percentage: 12.5, Start: 50, Split: split}, rollout.GetThreshold(), protocmp.Transform()); diff != "" {
		t.Errorf("threshold (-want +got):\n%s", diff)
	}

	nan := float32(math.NaN())
	for _, test := range []struct {
		method  string
		request proto.Message
		code    codes.Code
		want    string
	}{
		{
			"UpdateRule", &flipt.UpdateRuleRequest{FlagKey: "v", Id: rule.GetId(), SegmentKeys: []string{"s"}},
			codes.FailedPrecondition, "rule 1 has conditions that this request does not state; use ReplaceFlag",
		},
		{
			"UpdateRollout", &flipt.UpdateRolloutRequest{FlagKey: "b", Id: rollout.GetId(), Rule: &flipt.UpdateRolloutRequest_Threshold{Threshold: &flipt.RolloutThreshold{}}},
			codes.FailedPrecondition, "rule 1 has conditions that this request does not state; use ReplaceFlag",
		},
		{
			"CreateRule", &flipt.CreateRuleRequest{FlagKey: "v", Rank: 2, Everyone: true, Portion: &flipt.Portion{Percentage: nan}},
			codes.InvalidArgument, "invalid field portion: start and percentage must be within [0, 100] together",
		},
		{
			"CreateRule", &flipt.CreateRuleRequest{FlagKey: "v", Rank: 2, Everyone: true, Portion: &flipt.Portion{Start: nan}},
			codes.InvalidArgument, "invalid field portion: start and percentage must be within [0, 100] together",
		},
		{
			"CreateRollout", &flipt.CreateRolloutRequest{FlagKey: "b", Rank: 2, Rule: &flipt.CreateRolloutRequest_Threshold{Threshold: &flipt.RolloutThreshold{Start: nan}}},
			codes.InvalidArgument, "invalid field threshold: start and percentage must be within [0, 100] together",
		},
	} {
		err := in.call(t.Context(), "/flipt.Flipt/"+test.method, test.request, &flipt.Rule{})
		if s := status.Convert(err); s.Code() != test.code || s.Message() != test.want {
			t.Errorf("%s with %v: got %v %q, want %v %q", test.method, test.request, s.Code(), s.Message(), test.code, test.want)
		}
	}
}
