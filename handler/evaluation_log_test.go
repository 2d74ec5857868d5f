package handler_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/service"
)

// loggedStates returns a handler that logs evaluations of a few flags into the
// buffer.
func loggedStates(entities bool) (*handler.Handler, *bytes.Buffer) {
	bench := benchSnapshot(2)
	flags := append(bench.Flags(),
		&guidon.Flag{Key: "plain", Type: guidon.BooleanFlag, Enabled: true},
		&guidon.Flag{Key: "off"},
		&guidon.Flag{Key: "nothing", Enabled: true},
		&guidon.Flag{Key: "US", Type: guidon.BooleanFlag, Rollouts: []*guidon.Rollout{
			{ID: "r", Rank: 1, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"s"}, Value: true}},
		}},
	)
	s := guidon.NewSnapshot(bench.Namespace(), guidon.Revision{Number: 7, Stamp: 1}, flags, bench.Segments())
	var log bytes.Buffer
	store := &states{byKey: map[string]*guidon.Snapshot{"default": s}}
	return handler.New(handler.Config{
		Service:     service.NewService(store, time.Now),
		Evaluations: evaluation.Observers(nil, evaluation.NewLog(slog.New(slog.NewJSONHandler(&log, nil)), entities)),
	}), &log
}

// event returns the attributes of every logged evaluation plus further ones.
func event(further map[string]any) map[string]any {
	e := map[string]any{
		"level": "INFO", "msg": "feature_flag.evaluation", "request_id": "r", "feature_flag.provider.name": "guidon",
		"feature_flag.set.id": "default", "feature_flag.version": "7",
	}
	for name, value := range further {
		e["feature_flag."+name] = value
	}
	if kind, failed := further["error.type"]; failed {
		delete(e, "feature_flag.error.type")
		e["error.type"] = kind
	}
	return e
}

// TestEvaluationLog tests the attributes of OFREP 13, for the Flipt v1 interface and for
// OFREP.
func TestEvaluationLog(t *testing.T) {
	const context = `"country":"US","age":"20","beta":"true"`
	h, log := loggedStates(false)
	for _, test := range []struct {
		name, path, body string
		want             []map[string]any
	}{
		{"a threshold", "/evaluate/v1/boolean", `{"flagKey":"bool-00000","entityId":"user-0000"}`,
			[]map[string]any{{"key": "bool-00000", "result.variant": "true", "result.reason": "split"}}},
		{"its default", "/evaluate/v1/boolean", `{"flagKey":"plain","entityId":"e"}`,
			[]map[string]any{{"key": "plain", "result.variant": "true", "result.reason": "default"}}},
		{"a segment", "/evaluate/v1/boolean", `{"flagKey":"US","entityId":"e","context":{` + context + `}}`,
			[]map[string]any{{"key": "US", "result.variant": "true", "result.reason": "targeting_match"}}},
		{"a distribution", "/evaluate/v1/variant", `{"flagKey":"var-00001","entityId":"e","context":{` + context + `}}`,
			[]map[string]any{{"key": "var-00001", "result.variant": "off", "result.reason": "split"}}},
		{"disabled", "/evaluate/v1/variant", `{"flagKey":"off"}`,
			[]map[string]any{{"key": "off", "result.reason": "disabled"}}},
		{"no variant", "/evaluate/v1/variant", `{"flagKey":"nothing"}`,
			[]map[string]any{{"key": "nothing", "result.reason": "unknown"}}},
		{"another type", "/evaluate/v1/variant", `{"flagKey":"plain"}`,
			[]map[string]any{{"key": "plain", "result.reason": "error", "error.type": "type_mismatch", "error.message": "flag type BOOLEAN_FLAG_TYPE invalid"}}},
		{"no flag", "/api/v1/evaluate", `{"flagKey":"nope","entityId":"e"}`,
			[]map[string]any{{"key": "nope", "result.reason": "error", "error.type": "flag_not_found", "error.message": `flag "default/nope" not found`}}},
		{"a batch", "/evaluate/v1/batch", `{"requests":[{"flagKey":"off"},{"flagKey":"nope"}]}`, []map[string]any{
			{"key": "off", "result.reason": "disabled"},
			{"key": "nope", "result.reason": "error", "error.type": "flag_not_found", "error.message": "flag not found"},
		}},
		{"OFREP, static", ofrepPath + "/plain", `{"context":{}}`,
			[]map[string]any{{"key": "plain", "result.variant": "true", "result.reason": "static"}}},
		{"OFREP, no variant", ofrepPath + "/nothing", `{"context":{}}`,
			[]map[string]any{{"key": "nothing", "result.reason": "default"}}},
		{"OFREP, no key to split by", ofrepPath + "/bool-00000", `{"context":{}}`, []map[string]any{{
			"key": "bool-00000", "result.reason": "error", "error.type": "targeting_key_missing",
			"error.message": `invalid field context.targetingKey: must not be empty, because flag "bool-00000" is split by it`,
		}}},
		{"OFREP, bulk", ofrepPath, `{"context":{"targetingKey":"e","flags":"off,plain"}}`, []map[string]any{
			{"key": "off", "result.reason": "disabled"},
			{"key": "plain", "result.variant": "true", "result.reason": "static"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			log.Reset()
			serve(h, http.MethodPost, test.path, test.body, "X-Request-Id", "r")
			want := make([]map[string]any, len(test.want))
			for i, further := range test.want {
				want[i] = event(further)
			}
			if diff := cmp.Diff(want, eventsIn(t, log)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestEvaluationLogOfEntities: entities are logged only if that is enabled.
func TestEvaluationLogOfEntities(t *testing.T) {
	for _, entities := range []bool{false, true} {
		h, log := loggedStates(entities)
		serve(h, http.MethodPost, "/evaluate/v1/boolean", `{"flagKey":"plain","entityId":"somebody"}`)
		serve(h, http.MethodPost, "/evaluate/v1/batch", `{"requests":[{"flagKey":"plain","entityId":"somebody"}]}`)
		serve(h, http.MethodPost, ofrepPath+"/plain", `{"context":{"targetingKey":"somebody"}}`)
		got := eventsIn(t, log)
		if len(got) != 3 {
			t.Errorf("%d events, want 3", len(got))
		}
		for _, e := range got {
			if name, named := e["feature_flag.context.id"]; named != entities || named && name != "somebody" {
				t.Errorf("entities %t: %v", entities, e)
			}
		}
	}
}

// eventsIn returns the events of a log, without their times.
func eventsIn(t *testing.T, log *bytes.Buffer) (events []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(log.Bytes()) {
		var e map[string]any
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		delete(e, "time")
		events = append(events, e)
	}
	return events
}
