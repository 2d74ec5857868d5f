package codec_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon/handler/codec"
	"github.com/guidonhq/guidon/handler/wire/auth"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestUnknownFields: the first unknown field has a path, and is certainly a mistake if it is
// beside a percentage that is missing.
func TestUnknownFields(t *testing.T) {
	for _, test := range []struct {
		body    string
		into    proto.Message
		want    string
		certain bool
	}{
		{`{"key":"f","x":{"y":1}}`, &flipt.CreateFlagRequest{}, "invalid field x: is not known", false},
		{`{"namespaces":["a"]}`, &auth.CreateTokenRequest{}, "invalid field namespaces: is not known; did you mean namespaceKeys?", false},
		{`{"metadata":{"x":"y"},"name":"a"}`, &auth.CreateTokenRequest{}, "", false},
		{`{"document":{"flags":[{},{"rollouts":[{"threshold":{"percent":5}}]}]}}`, &guidonv1.ImportRequest{},
			"invalid field document.flags[1].rollouts[0].threshold.percent: is not known; did you mean percentage?", false},
		{`{"metadata":{"x":{"y":1}}}`, &flipt.CreateFlagRequest{}, "", false},
		{`{"threshold":{"percent":50,"value":true}}`, &flipt.CreateRolloutRequest{},
			"invalid field threshold.percent: is not known, and percentage is missing; did you mean percentage?", true},
		{`{"threshold":{"percent":50,"percentage":null}}`, &flipt.UpdateRolloutRequest{},
			"invalid field threshold.percent: is not known, and percentage is missing; did you mean percentage?", true},
		{`{"threshold":{"percent":50,"percentage":0}}`, &flipt.CreateRolloutRequest{}, "invalid field threshold.percent: is not known; did you mean percentage?", false},
		{`{"x":1,"threshold":{"value":true}}`, &flipt.CreateRolloutRequest{}, "invalid field x: is not known", false},
		{`{"threshold":{"y":1,"value":true},"x":1}`, &flipt.CreateRolloutRequest{}, "invalid field threshold.y: is not known, and percentage is missing", true},
		{`{"x":1,"threshold":{"y":1}}`, &flipt.CreateRolloutRequest{}, "invalid field threshold.y: is not known, and percentage is missing", true},
		{`{"variantId":"v","percentage":5}`, &flipt.CreateDistributionRequest{}, "invalid field percentage: is not known, and rollout is missing", true},
		{`{"variantId":"v"}`, &flipt.UpdateDistributionRequest{}, "", false},
		{`{"rolout":5}`, &flipt.UpdateDistributionRequest{}, "invalid field rolout: is not known, and rollout is missing; did you mean rollout?", true},
	} {
		got := ""
		unknown, err := codec.UnmarshalRequest([]byte(test.body), test.into, 1000)
		if err != nil {
			t.Errorf("%s: %v", test.body, err)
		}
		if unknown != nil {
			got = unknown.Err().Error()
		}
		if got != test.want || unknown != nil && unknown.Certain != test.certain {
			t.Errorf("%s: got %q, want %q (certain: %t)", test.body, got, test.want, test.certain)
		}
	}
}
