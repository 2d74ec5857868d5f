// Package generated tests a generated client against a running server.
package generated

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/integration/clients/generated/client"
)

// connect returns a client of the server in the environment, with its token or without.
func connect(t *testing.T, token string) *client.ClientWithResponses {
	t.Helper()
	c, err := client.NewClientWithResponses(os.Getenv("GUIDON_URL"), client.WithRequestEditorFn(bearer(token)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFlag creates a flag, evaluates it in every way, and deletes it.
func TestFlag(t *testing.T) {
	ctx, c := t.Context(), connect(t, os.Getenv("GUIDON_TOKEN"))
	boolean := client.FlagTypeBoolean
	all, yes := float32(100), true

	created, err := c.CreateFlagWithResponse(ctx, "default", nil, client.CreateFlagJSONRequestBody{Key: "from-go", Name: "From Go", Type: &boolean})
	if err != nil || created.JSON200 == nil || created.JSON200.Key != "from-go" || created.JSON200.Type != boolean {
		t.Fatalf("create: %v, %s", err, body(created))
	}
	rollout, err := c.CreateRolloutWithResponse(ctx, "default", "from-go", nil, client.CreateRolloutJSONRequestBody{
		Rank: new(int32(1)), Threshold: &client.RolloutThreshold{Percentage: &all, Value: &yes},
	})
	if err != nil || rollout.JSON200 == nil || rollout.JSON200.Type != client.RolloutTypeThreshold {
		t.Fatalf("rollout: %v, %s", err, body(rollout))
	}

	list, err := c.ListFlagsWithResponse(ctx, "default", &client.ListFlagsParams{Limit: new(int32(100))})
	if err != nil || list.JSON200 == nil || list.JSON200.TotalCount < 1 {
		t.Fatalf("list: %v, %s", err, body(list))
	}

	request := client.EvaluationRequest{FlagKey: "from-go", EntityId: new("user-1"), Context: &map[string]string{"country": "SE"}}
	single, err := c.EvaluateBooleanWithResponse(ctx, nil, request)
	if err != nil || single.JSON200 == nil || !single.JSON200.Enabled || single.JSON200.Reason != client.EvaluationReasonMatch {
		t.Errorf("boolean: %v, %s", err, body(single))
	}
	wrong, err := c.EvaluateVariantWithResponse(ctx, nil, request)
	if err != nil || wrong.JSON400 == nil || wrong.JSON400.Message != "flag type BOOLEAN_FLAG_TYPE invalid" {
		t.Errorf("variant of a boolean flag: %v, %s", err, body(wrong))
	}
	batch, err := c.EvaluateBatchWithResponse(ctx, nil, client.BatchEvaluationRequest{Requests: &[]client.EvaluationRequest{request, {FlagKey: "nope"}}})
	if err != nil || batch.JSON200 == nil || len(batch.JSON200.Responses) != 2 {
		t.Fatalf("batch: %v, %s", err, body(batch))
	}
	if r := batch.JSON200.Responses; !r[0].BooleanResponse.Enabled || r[1].Type != client.EvaluationResponseTypeError ||
		r[1].ErrorResponse.Reason != client.ErrorEvaluationReasonNotFound {
		t.Errorf("batch: %s", body(batch))
	}

	deleted, err := c.DeleteFlagWithResponse(ctx, "default", "from-go", nil)
	if err != nil || deleted.StatusCode() != http.StatusOK {
		t.Errorf("delete: %v, %s", err, body(deleted))
	}
	missing, err := c.GetFlagWithResponse(ctx, "default", "from-go", nil)
	if err != nil || missing.JSON404 == nil || missing.JSON404.Code != 5 || missing.JSON404.Message != `flag "default/from-go" not found` {
		t.Errorf("get: %v, %s", err, body(missing))
	}
}

// TestVariant evaluates a variant flag of the document that the server has.
func TestVariant(t *testing.T) {
	ctx, c := t.Context(), connect(t, os.Getenv("GUIDON_TOKEN"))
	got, err := c.EvaluateVariantWithResponse(ctx, nil, client.EvaluationRequest{
		NamespaceKey: new("ofrep"), FlagKey: "banner", EntityId: new("user-1"), Context: &map[string]string{"age": "42"},
	})
	if err != nil || got.JSON200 == nil || got.JSON200.VariantKey != "plain" || !got.JSON200.Match {
		t.Errorf("%v, %s", err, body(got))
	}
}

// TestOFREP evaluates by OFREP: one flag, all flags, and a flag that does not exist.
func TestOFREP(t *testing.T) {
	ctx, c, namespace := t.Context(), connect(t, os.Getenv("GUIDON_TOKEN")), "ofrep"
	user := client.OFREPRequest{Context: &client.OFREPRequest_Context{TargetingKey: new("user-1")}}
	user.Context.Set("age", 42)

	one, err := c.OfrepEvaluateFlagWithResponse(ctx, "adult", &client.OfrepEvaluateFlagParams{XFliptNamespace: &namespace}, user)
	if err != nil || one.JSON200 == nil || one.JSON200.Reason != client.OFREPReasonTargetingMatch || one.JSON200.Value != true {
		t.Errorf("one flag: %v, %s", err, body(one))
	}
	all, err := c.OfrepEvaluateFlagsWithResponse(ctx, &client.OfrepEvaluateFlagsParams{XFliptNamespace: &namespace}, user)
	if err != nil || all.JSON200 == nil || len(all.JSON200.Flags) == 0 {
		t.Fatalf("all flags: %v, %s", err, body(all))
	}
	if flag, err := all.JSON200.Flags[0].AsOFREPFlag(); err != nil || flag.Key != "adult" {
		t.Errorf("the first flag: %v, %+v", err, flag)
	}
	missing, err := c.OfrepEvaluateFlagWithResponse(ctx, "nope", nil, user)
	if err != nil || missing.JSON404 == nil || missing.JSON404.ErrorCode != client.OFREPErrorCodeFlagNotFound {
		t.Errorf("a flag that does not exist: %v, %s", err, body(missing))
	}
}

// TestStream reads the beginning of the stream of changes.
func TestStream(t *testing.T) {
	response, err := connect(t, os.Getenv("GUIDON_TOKEN")).StreamChanges(t.Context(), "default", &client.StreamChangesParams{From: new("0")})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var text strings.Builder
	for !strings.Contains(text.String(), "event: change") {
		piece := make([]byte, 1<<10)
		n, err := response.Body.Read(piece)
		if err != nil {
			t.Fatalf("the stream ended after %q: %v", text.String(), err)
		}
		text.Write(piece[:n])
	}
}

// TestAnonymous: without a token, the error has its type.
func TestAnonymous(t *testing.T) {
	ctx, c := t.Context(), connect(t, "")
	list, err := c.ListFlagsWithResponse(ctx, "default", nil)
	if err != nil || list.JSON401 == nil || list.JSON401.Code != 16 || list.JSON401.Message != "request was not authenticated" {
		t.Errorf("%v, %s", err, body(list))
	}
	health, err := c.GetHealthWithResponse(ctx, nil)
	if err != nil || health.JSON200 == nil || health.JSON200.Status != "SERVING" {
		t.Errorf("%v, %s", err, body(health))
	}
}
