package clients

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/open-feature/go-sdk-contrib/providers/ofrep"
	"github.com/open-feature/go-sdk/openfeature"
)

// TestGoProvider runs the published OpenFeature provider for Go against the
// server; see node/ofrep.test.js for its siblings.
func TestGoProvider(t *testing.T) {
	s := startForClients(t)
	client := openFeatureClient(t, "good", ofrep.NewProvider(s.URL,
		ofrep.WithBearerToken(sdkToken), ofrep.WithHeader("X-Guidon-Namespace", "ofrep")))
	// Numbers, booleans and dates keep their types on the wire.
	user := openfeature.NewEvaluationContext("user-1", map[string]any{
		"age": 42, "beta": true, "since": time.Date(2026, 5, 1, 10, 20, 30, 123e6, time.UTC), "geo": map[string]any{"cc": "NO"},
	})

	type answer struct {
		Value   any
		Variant string
		Reason  openfeature.Reason
		Error   openfeature.ErrorCode
	}
	answerOf := func(value any, d openfeature.EvaluationDetails) answer {
		return answer{value, d.Variant, d.Reason, d.ErrorCode}
	}
	boolean := func(flag string, byDefault bool, user openfeature.EvaluationContext) answer {
		d, _ := client.BooleanValueDetails(t.Context(), flag, byDefault, user) // the details contain the error as well
		return answerOf(d.Value, d.EvaluationDetails)
	}
	text := func(flag string, user openfeature.EvaluationContext) answer {
		d, _ := client.StringValueDetails(t.Context(), flag, "default", user)
		return answerOf(d.Value, d.EvaluationDetails)
	}
	ratio, _ := client.FloatValueDetails(t.Context(), "ratio", 1, user)
	banner, _ := client.ObjectValueDetails(t.Context(), "banner", nil, user)
	nobody := openfeature.NewTargetlessEvaluationContext(map[string]any{"age": 42})

	for _, c := range []struct {
		name      string
		got, want answer
	}{
		{"a segment by number", boolean("adult", false, user), answer{true, "true", "TARGETING_MATCH", ""}},
		{"a segment by date", boolean("since", false, user), answer{true, "true", "TARGETING_MATCH", ""}},
		{"a flag that is off", boolean("off", true, user), answer{false, "false", "STATIC", ""}},
		{"an attachment that is a boolean", boolean("named", true, user), answer{false, "nope", "STATIC", ""}},
		{"an attachment that is a number", answerOf(ratio.Value, ratio.EvaluationDetails), answer{0.25, "quarter", "STATIC", ""}},
		{"an attachment that is an object", answerOf(banner.Value, banner.EvaluationDetails),
			answer{map[string]any{"text": "Hello", "sizes": []any{1.0, 2.5}, "dark": false}, "plain", "TARGETING_MATCH", ""}},
		{"a distribution", text("half", user), answer{"b", "b", "SPLIT", ""}},
		{"a distribution without a targeting key", text("half", nobody), answer{"default", "", "ERROR", openfeature.TargetingKeyMissingCode}},
		{"a flag that does not exist", text("nope", user), answer{"default", "", "ERROR", openfeature.FlagNotFoundCode}},
		{"a number as text", text("ratio", user), answer{"default", "", "ERROR", openfeature.TypeMismatchCode}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
	if diff := cmp.Diff(openfeature.FlagMetadata{"owner": "web", "segments": "adults"}, banner.FlagMetadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}

	rejected := openFeatureClient(t, "rejected", ofrep.NewProvider(s.URL, ofrep.WithApiKeyAuth("wrong")))
	if d, err := rejected.BooleanValueDetails(t.Context(), "adult", true, user); err == nil || !d.Value {
		t.Errorf("a wrong token: got %v, %v, want the default of the code and an error", d.Value, err)
	}
}

func openFeatureClient(t *testing.T, domain string, provider openfeature.FeatureProvider) *openfeature.Client {
	t.Helper()
	if err := openfeature.SetNamedProviderWithContextAndWait(t.Context(), domain, provider); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(openfeature.Shutdown)
	return openfeature.NewClient(domain)
}
