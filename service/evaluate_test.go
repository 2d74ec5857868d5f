package service_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// snapshots is a store of fixed snapshots.
type snapshots struct {
	service.Store // nil: any other call panics
	byNamespace   map[string]*guidon.Snapshot
	reads         int
}

func (s *snapshots) Snapshot(_ context.Context, namespace string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	s.reads++
	if snapshot := s.byNamespace[namespace]; snapshot != nil {
		return snapshot, 0, nil
	}
	return nil, 0, guidon.Errorf(guidon.NotFound, "no such namespace")
}

func evaluationService() (*service.Service, *snapshots) {
	mystery := flagtest.Segment("mystery", guidon.MatchAll, &guidon.Constraint{Property: "p", Operator: guidon.OpEQ, Value: "x"})
	store := &snapshots{byNamespace: map[string]*guidon.Snapshot{
		"default": guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 5}, []*guidon.Flag{
			flagtest.VariantFlag("color", flagtest.Rule(flagtest.Shares{100}, "everyone")), flagtest.BooleanFlag("on", true), flagtest.VariantFlag("broken", flagtest.Rule(nil, "mystery")),
		}, []*guidon.Segment{flagtest.Everyone(), mystery}),
		"other": guidon.NewSnapshot(&guidon.Namespace{Key: "other"}, guidon.Revision{Number: 9}, []*guidon.Flag{
			flagtest.BooleanFlag("on", false),
		}, nil),
	}}
	return service.NewService(store, time.Now), store
}

// TestEvaluateBatch covers contract 7.8: one result per request, in order, for flags of
// either type and any namespace, and an empty one for an unknown flag.
func TestEvaluateBatch(t *testing.T) {
	svc, store := evaluationService()
	batch := service.Batch{Requests: []service.EvaluationRequest{
		{FlagKey: "on", EntityID: "user-1"},
		{FlagKey: "color", EntityID: "user-1", Namespace: "default"},
		{FlagKey: "nothing"},
		{FlagKey: "on", Namespace: "other"},
		{FlagKey: "on", Namespace: "unknown"},
		{FlagKey: "color", EntityID: "user-1"},
	}}
	state, err := svc.EvaluateBatch(t.Context(), service.Demand{}, &batch)
	if err != nil {
		t.Fatal(err)
	}
	on := guidon.BooleanResult{Enabled: true, Reason: guidon.ReasonDefault}
	off := guidon.BooleanResult{Reason: guidon.ReasonDefault}
	color := flagtest.VariantResult(true, guidon.ReasonMatch, "A", "everyone")
	want := []service.Evaluation{{Boolean: &on}, {Variant: &color}, {}, {Boolean: &off}, {}, {Variant: &color}}
	if diff := cmp.Diff(want, batch.Answers); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if store.reads != 3 {
		t.Errorf("read %d snapshots, want one for each of three namespaces", store.reads)
	}
	if state != (service.State{}) {
		t.Errorf("got state %+v, want none for several namespaces", state)
	}
}

func TestEvaluateBatchOfOneNamespace(t *testing.T) {
	svc, _ := evaluationService()
	batch := service.Batch{Requests: []service.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "color"}}}
	state, err := svc.EvaluateBatch(t.Context(), service.Demand{}, &batch)
	if want := (service.State{Namespace: "default", Revision: 5}); err != nil || state != want {
		t.Errorf("got %v and state %+v, want %+v", err, state, want)
	}
}

func TestEvaluateBatchFails(t *testing.T) {
	svc, _ := evaluationService()
	_, err := svc.EvaluateBatch(t.Context(), service.Demand{}, &service.Batch{Requests: []service.EvaluationRequest{{FlagKey: "on"}, {FlagKey: "broken"}}})
	flagtest.CheckError(t, err, guidon.InvalidArgument, "unknown constraint type")
	_, err = svc.EvaluateBatch(t.Context(), service.Demand{}, &service.Batch{Requests: make([]service.EvaluationRequest, service.MaxBatch+1)})
	flagtest.CheckError(t, err, guidon.TooLarge, fmt.Sprintf("invalid field requests: must not contain more than %d elements", service.MaxBatch))
	var none service.Batch
	if _, err := svc.EvaluateBatch(t.Context(), service.Demand{}, &none); err != nil || len(none.Answers) != 0 {
		t.Errorf("no requests: got %v, %v, want no results", none.Answers, err)
	}
}

// A reused batch gives the same results as a new one, whether it was smaller or larger
// before, or had failed.
func TestBatchReuse(t *testing.T) {
	svc, _ := evaluationService()
	var reused service.Batch
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
			reused.Requests = append(reused.Requests, service.EvaluationRequest{FlagKey: flag, EntityID: "user-1"})
		}
		fresh := service.Batch{Requests: reused.Requests}
		_, wantErr := svc.EvaluateBatch(t.Context(), service.Demand{}, &fresh)
		_, err := svc.EvaluateBatch(t.Context(), service.Demand{}, &reused)
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
	svc, _ := evaluationService()
	var batch service.Batch
	evaluate := func() {
		batch.Reset()
		for range 100 {
			batch.Requests = append(batch.Requests,
				service.EvaluationRequest{FlagKey: "on", EntityID: "user-1"}, service.EvaluationRequest{FlagKey: "color", EntityID: "user-1"})
		}
		if _, err := svc.EvaluateBatch(context.Background(), service.Demand{}, &batch); err != nil {
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
	svc, _ := evaluationService()
	variant, state, err := svc.EvaluateVariant(t.Context(), service.Demand{}, service.EvaluationRequest{FlagKey: "color", EntityID: "user-1"})
	if diff := cmp.Diff(flagtest.VariantResult(true, guidon.ReasonMatch, "A", "everyone"), variant); err != nil || diff != "" {
		t.Errorf("%v, result (-want +got):\n%s", err, diff)
	}
	if want := (service.State{Namespace: "default", Revision: 5}); state != want {
		t.Errorf("got state %+v, want %+v", state, want)
	}
	boolean, _, err := svc.EvaluateBoolean(t.Context(), service.Demand{}, service.EvaluationRequest{FlagKey: "on", Namespace: "other"})
	if diff := cmp.Diff(guidon.BooleanResult{Reason: guidon.ReasonDefault}, boolean); err != nil || diff != "" {
		t.Errorf("%v, result (-want +got):\n%s", err, diff)
	}
	_, _, err = svc.EvaluateVariant(t.Context(), service.Demand{}, service.EvaluationRequest{FlagKey: "on"})
	flagtest.CheckError(t, err, guidon.InvalidArgument, "flag type BOOLEAN_FLAG_TYPE invalid")
	_, _, err = svc.EvaluateBoolean(t.Context(), service.Demand{}, service.EvaluationRequest{FlagKey: "on", Namespace: "unknown"})
	flagtest.CheckError(t, err, guidon.NotFound, `flag "unknown/on" not found`)
}
