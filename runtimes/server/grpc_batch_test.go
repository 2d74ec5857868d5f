package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
)

// Batches reuse memory. Nevertheless each response must belong to its request, whatever
// the size, while other batches are evaluated concurrently.
func TestGRPCBatchesAtTheSameTime(t *testing.T) {
	metrics := metrics.New(metrics.Config{})
	in := start(t, func(s *settings) { s.handler.Observer, s.handler.Evaluations = metrics, metrics })
	const flags, callers, calls = 20, 8, 40
	keys := make([]string, flags)
	for i := range keys {
		keys[i] = fmt.Sprintf("flag-%02d", i)
	}
	in.seed(keys...)

	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for call := range calls {
				name := fmt.Sprintf("%d/%d", caller, call)
				if err := in.checkBatch(name, (caller*37+call*11)%90, keys); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	group.Wait()
}

// checkBatch evaluates that many flags, of which every fifth does not exist, and checks
// the response.
func (in *instance) checkBatch(name string, size int, keys []string) error {
	request := &evaluation.BatchEvaluationRequest{RequestId: name}
	for i := range size {
		key := keys[i%len(keys)]
		if i%5 == 4 {
			key = "none-" + name
		}
		request.Requests = append(request.Requests, &evaluation.EvaluationRequest{
			RequestId: fmt.Sprintf("%s/%d", name, i), FlagKey: key, EntityId: name, Context: map[string]string{"name": name},
		})
	}
	response := &evaluation.BatchEvaluationResponse{}
	if err := in.call(in.t.Context(), "/flipt.evaluation.EvaluationService/Batch", request, response); err != nil {
		return err
	}
	if response.GetRequestId() != name || len(response.GetResponses()) != size {
		return fmt.Errorf("%d responses to %q, want %d", len(response.GetResponses()), response.GetRequestId(), size)
	}
	for i, item := range response.GetResponses() {
		want := request.GetRequests()[i]
		if failed := item.GetErrorResponse(); strings.HasPrefix(want.GetFlagKey(), "none") {
			if failed.GetFlagKey() != want.GetFlagKey() {
				return fmt.Errorf("item %d: got %v, want an error about %s", i, item, want.GetFlagKey())
			}
			continue
		}
		got := item.GetBooleanResponse()
		if got.GetFlagKey() != want.GetFlagKey() || got.GetRequestId() != want.GetRequestId() || !got.GetEnabled() ||
			!got.GetTimestamp().IsValid() || got.GetRequestDurationMillis() != response.GetRequestDurationMillis() {
			return fmt.Errorf("item %d: got %v, want that of %s", i, got, want.GetFlagKey())
		}
	}
	return nil
}
