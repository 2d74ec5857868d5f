package handler_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/service"
)

// TestObserverOfFailures checks that each evaluation is reported once, with its outcome.
// No results are reported for a batch that fails; its error is that of the evaluation
// that caused it.
func TestObserverOfFailures(t *testing.T) {
	mystery := &guidon.Segment{Key: "mystery", Constraints: []*guidon.Constraint{{Property: "p", Operator: guidon.OpEQ, Value: "x"}}}
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 7}, []*guidon.Flag{
		{Key: "on", Type: guidon.BooleanFlag, Enabled: true}, {Key: "plain", Enabled: true},
		{Key: "broken", Enabled: true, Rules: []*guidon.Rule{{ID: "r", Rank: 1, SegmentKeys: []string{"mystery"}}}},
	}, []*guidon.Segment{mystery})
	present, away := &states{byKey: map[string]*guidon.Snapshot{"default": s}}, failingStore{err: errDatabaseDown}
	const discarded = " -: another evaluation of the batch failed"
	const batch, legacy = "/evaluate/v1/batch", "/api/v1/batch-evaluate"
	large := `{"requests":[` + strings.TrimSuffix(strings.Repeat(`{"flagKey":"on"},`, service.MaxBatch+1), ",") + `]}`
	for _, test := range []struct {
		name       string
		store      service.Store
		path, body string
		revision   string // the header Guidon-Min-Revision
		want       []string
	}{
		{"legacy batch, another type", present, legacy, `{"requests":[{"flagKey":"plain"},{"flagKey":"on"},{"flagKey":"plain"}]}`, "",
			[]string{"plain" + discarded, "on +: flag type BOOLEAN_FLAG_TYPE invalid", "plain" + discarded}},
		{"legacy batch, no flag", present, legacy, `{"requests":[{"flagKey":"plain"},{"flagKey":"nope"}]}`, "",
			[]string{"plain" + discarded, `nope -: flag "default/nope" not found`}},
		{"legacy batch that excludes unknown flags", present, legacy, `{"excludeNotFound":true,"requests":[{"flagKey":"plain"},{"flagKey":"nope"}]}`, "",
			[]string{"plain +: unknown", "nope -: flag not found"}},
		{"legacy batch, an item fails", present, legacy, `{"requests":[{"flagKey":"plain"},{"flagKey":"broken"}]}`, "",
			[]string{"plain" + discarded, "broken +: unknown constraint type"}},
		{"batch, an item fails", present, batch, `{"requests":[{"flagKey":"on"},{"flagKey":"broken"},{"flagKey":"nope"}]}`, "",
			[]string{"on" + discarded, "broken +: unknown constraint type", "nope" + discarded}},
		{"batch, no database", away, batch, `{"requests":[{"flagKey":"on"},{"flagKey":"plain"}]}`, "",
			[]string{"on -: the database cannot be reached", "plain" + discarded}},
		{"legacy batch, no database", away, legacy, `{"requests":[{"flagKey":"on"}]}`, "", []string{"on -: the database cannot be reached"}},
		{"legacy call, another type", present, "/api/v1/evaluate", `{"flagKey":"on","entityId":"e"}`, "", []string{"on +: flag type BOOLEAN_FLAG_TYPE invalid"}},
		{"legacy call, no database", away, "/api/v1/evaluate", `{"flagKey":"on","entityId":"e"}`, "", []string{"on -: the database cannot be reached"}},
		{"OFREP, no database", away, ofrepPath + "/on", `{"context":{}}`, "", []string{"on -: the database cannot be reached"}},
		{"OFREP bulk of some, no database", away, ofrepPath, `{"context":{"flags":"on,nope"}}`, "",
			[]string{"nope -: the database cannot be reached", "on -: the database cannot be reached"}},
		{"OFREP bulk, no database", away, ofrepPath, `{"context":{}}`, "", []string{" -: the database cannot be reached"}},
		// A rejected request evaluates nothing, and its names need not exist.
		{"a batch that is too large", present, batch, large, "", nil},
		{"a batch of two namespaces at one revision", present, batch, `{"requests":[{"flagKey":"on"},{"flagKey":"made-up","namespaceKey":"x"}]}`, "1", nil},
		{"a legacy batch of two namespaces", present, legacy, `{"requests":[{"flagKey":"on","namespaceKey":"x"}]}`, "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := newObserver()
			h := handler.New(handler.Config{Service: service.NewService(test.store, time.Now), Observer: o, Evaluations: o})
			serve(h, http.MethodPost, test.path, test.body, "Guidon-Min-Revision", test.revision)
			var got []string
			for len(o.evaluated) > 0 {
				got = append(got, outcome(<-o.evaluated))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestObserverOfLargeBulk checks that a bulk response that turns out to be too large is
// reported as a failure of all its flags, including those already evaluated.
func TestObserverOfLargeBulk(t *testing.T) {
	withoutRaceDetector(t)
	metadata := []byte(`{"text":"` + strings.Repeat("x", 512<<10) + `"}`)
	flags := make([]*guidon.Flag, 140)
	for i := range flags {
		flags[i] = &guidon.Flag{Key: fmt.Sprintf("flag-%03d", i), Type: guidon.BooleanFlag, Metadata: metadata}
	}
	s := guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 7}, flags, nil)
	o := &observer{make(chan finished, 1), make(chan evaluation.Event, len(flags)+1)}
	h := handler.New(handler.Config{
		Service: service.NewService(&states{byKey: map[string]*guidon.Snapshot{"default": s}}, time.Now), Observer: o, Evaluations: o,
	})
	if r := serve(h, http.MethodPost, ofrepPath, `{"context":{}}`); r.Code != http.StatusRequestEntityTooLarge {
		t.Fatalf("got status %d, want 413", r.Code)
	}
	if got := len(o.evaluated); got != len(flags) {
		t.Errorf("got %d events, want %d", got, len(flags))
	}
	for i := 0; len(o.evaluated) > 0; i++ {
		e := <-o.evaluated
		if want := flags[i].Key; e.Flag != want || !errors.Is(e.Err, guidon.TooLarge) || e.Value != "" || e.OFREPReason != "" {
			t.Fatalf("event %d: got %+v, want the failure of %s", i, e, want)
		}
	}
}

// outcome returns the flag, whether it is known to exist, and its reason or error.
func outcome(e evaluation.Event) string {
	exists, what := "-", e.Reason
	if e.FlagExists {
		exists = "+"
	}
	if e.Err != nil {
		what = guidon.PublicMessage(e.Err)
	}
	return fmt.Sprintf("%s %s: %s", e.Flag, exists, what)
}
