package handler_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// unused is a store that must not be asked.
type unused struct {
	service.Store
	t *testing.T
}

func (u unused) Snapshot(context.Context, string, service.Demand) (*guidon.Snapshot, time.Duration, error) {
	u.t.Error("the store was asked")
	return nil, 0, guidon.NotFound
}

// TestChecksBeforeTheStore sends reads with invalid fields: they fail without a query
// (contract 1.2).
func TestChecksBeforeTheStore(t *testing.T) {
	for method, m := range map[string]proto.Message{
		"ListFlags":    &flipt.ListFlagRequest{Limit: -1},
		"GetFlag":      &flipt.GetFlagRequest{},
		"ListRules":    &flipt.ListRuleRequest{FlagKey: "f", Limit: -1},
		"GetRule":      &flipt.GetRuleRequest{FlagKey: "f"},
		"ListRollouts": &flipt.ListRolloutRequest{FlagKey: "f", PageToken: "x"},
		"ListSegments": &flipt.ListSegmentRequest{Limit: -1},
		"GetSegment":   &flipt.GetSegmentRequest{},
	} {
		h := handler.New(handler.Config{Service: service.NewService(unused{t: t}, time.Now)})
		for _, o := range handler.Operations() {
			if o.Method() != method {
				continue
			}
			_, err := h.Invoke(t.Context(), o, call.Request{Message: m})
			if got := guidon.CodeOf(err); got != guidon.InvalidArgument {
				t.Errorf("%s: got %v, want InvalidArgument", method, err)
			}
		}
	}
}
