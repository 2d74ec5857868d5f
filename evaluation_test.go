package guidon_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/guidonhq/guidon"
)

// snapshots is a store that has nothing but snapshots to give.
type snapshots struct {
	guidon.Store // nil: any other call is a mistake of the test
	byNamespace  map[string]*guidon.Snapshot
	reads        int
}

func (s *snapshots) Snapshot(_ context.Context, namespace string) (*guidon.Snapshot, error) {
	s.reads++
	if snapshot := s.byNamespace[namespace]; snapshot != nil {
		return snapshot, nil
	}
	return nil, guidon.Errorf(guidon.NotFound, "no such namespace")
}

func evaluationService() (*guidon.Service, *snapshots) {
	mystery := segment("mystery", guidon.MatchAll, &guidon.Constraint{Property: "p", Operator: guidon.OpEQ, Value: "x"})
	store := &snapshots{byNamespace: map[string]*guidon.Snapshot{
		"default": guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 5}, []*guidon.Flag{
			variantFlag("color", rule(shares{100}, "everyone")), booleanFlag("on", true), variantFlag("broken", rule(nil, "mystery")),
		}, []*guidon.Segment{everyone(), mystery}),
		"other": guidon.NewSnapshot(&guidon.Namespace{Key: "other"}, guidon.Revision{Number: 9}, []*guidon.Flag{
			booleanFlag("on", false),
		}, nil),
	}}
	return guidon.NewService(store, time.Now), store
}

// TestEvaluateBatch holds contract 7.8: answers in order, one per item, of
// either type and any namespace; an unknown flag is an item of its own kind.
func TestEvaluateBatch(t *testing.T) {
	service, store := evaluationService()
	call := &guidon.Call{}
	got, err := service.EvaluateBatch(guidon.WithCall(t.Context(), call), []guidon.EvaluationRequest{
		{FlagKey: "on", EntityID: "user-1"},
		{FlagKey: "color", EntityID: "user-1", Namespace: "default"},
		{FlagKey: "nothing"},
		{FlagKey: "on", Namespace: "other"},
		{FlagKey: "on", Namespace: "unknown"},
		{FlagKey: "color", EntityID: "user-1"},
	})
	if err != nil {
		t.Fatal(err)
	}
	on := guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonDefault}
	off := guidon.BooleanResult{Reason: guidon.ReasonDefault}
	color := answer(true, guidon.ReasonMatch, "A", "everyone")
	want := []guidon.Evaluation{{Boolean: &on}, {Variant: &color}, {}, {Boolean: &off}, {}, {Variant: &color}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if store.reads != 3 {
		t.Errorf("read %d snapshots, want one for each of three namespaces: no mixture of revisions", store.reads)
	}
	if call.Namespace != "" || call.Revision != 0 {
		t.Errorf("the call tells of %q at %d, but the answer is about several", call.Namespace, call.Revision)
	}
}

func TestEvaluateBatchOfOneNamespace(t *testing.T) {
	service, _ := evaluationService()
	call := &guidon.Call{}
	_, err := service.EvaluateBatch(guidon.WithCall(t.Context(), call), []guidon.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "color"}})
	if err != nil || call.Namespace != "default" || call.Revision != 5 {
		t.Errorf("got %v and a call of %q at %d, want default at 5", err, call.Namespace, call.Revision)
	}
}

func TestEvaluateBatchFails(t *testing.T) {
	service, _ := evaluationService()
	_, err := service.EvaluateBatch(t.Context(), []guidon.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "broken"}})
	checkError(t, err, guidon.InvalidArgument, "unknown constraint type")
	_, err = service.EvaluateBatch(t.Context(), make([]guidon.EvaluationRequest, guidon.MaxBatch+1))
	checkError(t, err, guidon.TooLarge, fmt.Sprintf("invalid field requests: must not contain more than %d elements", guidon.MaxBatch))
	got, err := service.EvaluateBatch(t.Context(), nil)
	if err != nil || len(got) != 0 {
		t.Errorf("no requests: got %v, %v, want no answers", got, err)
	}
}

// TestEvaluateSingle holds contract 7.1: an unknown namespace has no flags, and
// no namespace is the default one.
func TestEvaluateSingle(t *testing.T) {
	service, _ := evaluationService()
	call := &guidon.Call{}
	ctx := guidon.WithCall(t.Context(), call)
	variant, err := service.EvaluateVariant(ctx, guidon.EvaluationRequest{FlagKey: "color", EntityID: "user-1"})
	if diff := cmp.Diff(answer(true, guidon.ReasonMatch, "A", "everyone"), variant); err != nil || diff != "" {
		t.Errorf("%v, result (-want +got):\n%s", err, diff)
	}
	if call.Namespace != "default" || call.Revision != 5 {
		t.Errorf("the call tells of %q at %d, want default at 5", call.Namespace, call.Revision)
	}
	boolean, err := service.EvaluateBoolean(ctx, guidon.EvaluationRequest{FlagKey: "on", Namespace: "other"})
	if diff := cmp.Diff(guidon.BooleanResult{Reason: guidon.ReasonDefault}, boolean); err != nil || diff != "" {
		t.Errorf("%v, result (-want +got):\n%s", err, diff)
	}
	_, err = service.EvaluateVariant(ctx, guidon.EvaluationRequest{FlagKey: "on"})
	checkError(t, err, guidon.InvalidArgument, "flag type BOOLEAN_FLAG_TYPE invalid")
	_, err = service.EvaluateBoolean(ctx, guidon.EvaluationRequest{FlagKey: "on", Namespace: "unknown"})
	checkError(t, err, guidon.NotFound, `flag "unknown/on" not found`)
}
