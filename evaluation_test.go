package guidon_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/guidonhq/guidon"
)

// snapshots is a store of fixed snapshots.
type snapshots struct {
	guidon.Store // nil: any other call panics
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

// TestEvaluateBatch covers contract 7.8: one result per request, in order, for flags of
// either type and any namespace, and an empty one for an unknown flag.
func TestEvaluateBatch(t *testing.T) {
	service, store := evaluationService()
	call := &guidon.Call{}
	batch := guidon.Batch{Requests: []guidon.EvaluationRequest{
		{FlagKey: "on", EntityID: "user-1"},
		{FlagKey: "color", EntityID: "user-1", Namespace: "default"},
		{FlagKey: "nothing"},
		{FlagKey: "on", Namespace: "other"},
		{FlagKey: "on", Namespace: "unknown"},
		{FlagKey: "color", EntityID: "user-1"},
	}}
	if err := service.EvaluateBatch(guidon.WithCall(t.Context(), call), &batch); err != nil {
		t.Fatal(err)
	}
	on := guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonDefault}
	off := guidon.BooleanResult{Reason: guidon.ReasonDefault}
	color := variantResult(true, guidon.ReasonMatch, "A", "everyone")
	want := []guidon.Evaluation{{Boolean: &on}, {Variant: &color}, {}, {Boolean: &off}, {}, {Variant: &color}}
	if diff := cmp.Diff(want, batch.Answers); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if store.reads != 3 {
		t.Errorf("read %d snapshots, want one for each of three namespaces", store.reads)
	}
	if call.Namespace != "" || call.Revision != 0 {
		t.Errorf("the call has namespace %q and revision %d, want none for several namespaces", call.Namespace, call.Revision)
	}
}

func TestEvaluateBatchOfOneNamespace(t *testing.T) {
	service, _ := evaluationService()
	call := &guidon.Call{}
	batch := guidon.Batch{Requests: []guidon.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "color"}}}
	err := service.EvaluateBatch(guidon.WithCall(t.Context(), call), &batch)
	if err != nil || call.Namespace != "default" || call.Revision != 5 {
		t.Errorf("got %v and a call of %q at %d, want default at 5", err, call.Namespace, call.Revision)
	}
}

func TestEvaluateBatchFails(t *testing.T) {
	service, _ := evaluationService()
	err := service.EvaluateBatch(t.Context(), &guidon.Batch{Requests: []guidon.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "broken"}}})
	checkError(t, err, guidon.InvalidArgument, "unknown constraint type")
	err = service.EvaluateBatch(t.Context(), &guidon.Batch{Requests: make([]guidon.EvaluationRequest, guidon.MaxBatch+1)})
	checkError(t, err, guidon.TooLarge, fmt.Sprintf("invalid field requests: must not contain more than %d elements", guidon.MaxBatch))
	var none guidon.Batch
	if err := service.EvaluateBatch(t.Context(), &none); err != nil || len(none.Answers) != 0 {
		t.Errorf("no requests: got %v, %v, want no results", none.Answers, err)
	}
}

// A reused batch gives the same results as a new one, whether it was smaller or larger
// before, or had failed.
func TestBatchReuse(t *testing.T) {
	service, _ := evaluationService()
	var reused guidon.Batch
	for _, flags := range [][]string{
		{"on", "color"},
		slices.Repeat([]string{"color", "on", "nothing", "color"}, 40),
		{"color", "on", "broken"},
		slices.Repeat([]string{"on"}, 20),
		{"nothing"},
		nil,
		{"on", "color", "color"},
	} {
		reused.Reset()
		for _, flag := range flags {
			reused.Requests = append(reused.Requests, guidon.EvaluationRequest{FlagKey: flag, EntityID: "user-1"})
		}
		fresh := guidon.Batch{Requests: reused.Requests}
		wantErr, err := service.EvaluateBatch(t.Context(), &fresh), service.EvaluateBatch(t.Context(), &reused)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: got %v, want %v", flags, err, wantErr)
		}
		if diff := cmp.Diff(fresh.Answers, reused.Answers, cmpopts.EquateEmpty()); err == nil && diff != "" {
			t.Errorf("%q: (-new +reused):\n%s", flags, diff)
		}
	}
}

// A reused batch does not allocate its items again for a batch of the same size.
func TestBatchReusesMemory(t *testing.T) {
	service, _ := evaluationService()
	var batch guidon.Batch
	evaluate := func() {
		batch.Reset()
		for range 100 {
			batch.Requests = append(batch.Requests,
				guidon.EvaluationRequest{FlagKey: "on", EntityID: "user-1"}, guidon.EvaluationRequest{FlagKey: "color", EntityID: "user-1"})
		}
		if err := service.EvaluateBatch(context.Background(), &batch); err != nil {
			t.Error(err)
		}
	}
	if got, want := testing.AllocsPerRun(100, evaluate), 5.0; got > want {
		t.Errorf("%v allocations for a batch, want at most %v", got, want)
	}
}

// TestEvaluateSingle covers contract 7.1: an unknown namespace has no flags, and an
// empty namespace key means the default one.
func TestEvaluateSingle(t *testing.T) {
	service, _ := evaluationService()
	call := &guidon.Call{}
	ctx := guidon.WithCall(t.Context(), call)
	variant, err := service.EvaluateVariant(ctx, guidon.EvaluationRequest{FlagKey: "color", EntityID: "user-1"})
	if diff := cmp.Diff(variantResult(true, guidon.ReasonMatch, "A", "everyone"), variant); err != nil || diff != "" {
		t.Errorf("%v, result (-want +got):\n%s", err, diff)
	}
	if call.Namespace != "default" || call.Revision != 5 {
		t.Errorf("the call has namespace %q at revision %d, want default at 5", call.Namespace, call.Revision)
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
