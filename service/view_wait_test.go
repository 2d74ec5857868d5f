package service_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// laggingStore is a store whose revision advances by step with every query, or that does not
// have the namespace.
type laggingStore struct {
	service.Store // nil: any other call panics
	revision      int64
	step          int64
	missing       bool
	demands       []service.Demand // of each query
}

func (s *laggingStore) Snapshot(_ context.Context, namespace string, d service.Demand) (*guidon.Snapshot, time.Duration, error) {
	s.demands = append(s.demands, d)
	if s.missing {
		return nil, 0, guidon.Errorf(guidon.NotFound, "no such namespace")
	}
	s.revision += s.step
	return guidon.NewSnapshot(&guidon.Namespace{Key: namespace}, guidon.Revision{Number: s.revision}, nil, nil), 0, nil
}

func TestAtLeast(t *testing.T) {
	tests := []struct {
		name    string
		store   laggingStore
		min     int64
		want    error
		queries int           // -1: up to 20
		waits   time.Duration // -1: up to MaxRevisionWait
		got     int64
	}{
		{"no minimum", laggingStore{revision: 5}, 0, nil, 1, 0, 5},
		{"already reached", laggingStore{revision: 5}, 5, nil, 1, 0, 5},
		{"reached by a fresh read", laggingStore{revision: 5, step: 1}, 7, nil, 2, 0, 7},
		{"reached later", laggingStore{revision: 5, step: 1}, 9, nil, 4, 30 * time.Millisecond, 9},
		{"never reached", laggingStore{revision: 5}, 6, guidon.Unavailable, -1, -1, 5},
		{"the namespace does not exist", laggingStore{missing: true}, 6, guidon.NotFound, 2, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				begin := time.Now()
				v, err := service.NewService(&test.store, time.Now).View(t.Context(), "default", service.Demand{AtLeast: test.min, Begun: begin})
				if !errors.Is(err, test.want) || v.Revision != test.got {
					t.Errorf("got revision %d, %v, want %d, %v", v.Revision, err, test.got, test.want)
				}
				took := time.Since(begin)
				if test.waits >= 0 && took != test.waits || took > service.MaxRevisionWait {
					t.Errorf("it took %v, want %v", took, test.waits)
				}
				if queries := len(test.store.demands); test.queries >= 0 && queries != test.queries || queries > 20 {
					t.Errorf("queried %d times, want %d", queries, test.queries)
				}
				for i, d := range test.store.demands {
					if fresh := i > 0; d.Fresh != fresh || fresh && d.Begun.Before(begin) {
						t.Errorf("query %d: fresh %t, begun %v", i, d.Fresh, d.Begun)
					}
				}
			})
		})
	}
}

// A canceled request stops waiting.
func TestAtLeastCanceled(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		_, err := service.NewService(&laggingStore{revision: 5}, time.Now).View(ctx, "default", service.Demand{AtLeast: 9})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
}
