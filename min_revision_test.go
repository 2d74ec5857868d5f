package guidon_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
)

// lagging is a store that is at a later revision with every question, or does
// not have the namespace at all.
type lagging struct {
	guidon.Store // nil: nothing else is asked
	revision     int64
	step         int64
	missing      bool
	calls        []guidon.Call // what each question was told
}

func (s *lagging) Snapshot(ctx context.Context, namespace string) (*guidon.Snapshot, error) {
	s.calls = append(s.calls, *guidon.CallFrom(ctx))
	if s.missing {
		return nil, guidon.Errorf(guidon.NotFound, "no such namespace")
	}
	s.revision += s.step
	return guidon.NewSnapshot(&guidon.Namespace{Key: namespace}, guidon.Revision{Number: s.revision}, nil, nil), nil
}

func TestMinRevision(t *testing.T) {
	tests := []struct {
		name    string
		store   lagging
		demand  int64
		want    error
		asked   int
		waits   time.Duration
		arrives int64
	}{
		{"none", lagging{revision: 5}, 0, nil, 1, 0, 5},
		{"what is held", lagging{revision: 5}, 5, nil, 1, 0, 5},
		{"what a fresh look shows", lagging{revision: 5, step: 1}, 7, nil, 2, 0, 7},
		{"what comes a little later", lagging{revision: 5, step: 1}, 9, nil, 4, 30 * time.Millisecond, 9},
		{"what does not come", lagging{revision: 5}, 6, guidon.Unavailable, -1, -1, 5},
		{"of a namespace that is gone", lagging{missing: true}, 6, guidon.NotFound, 2, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				call := &guidon.Call{MinRevision: test.demand, Begun: begin}
				_, err := guidon.NewService(&test.store, time.Now).GetNamespace(guidon.WithCall(t.Context(), call), "default")
				if !errors.Is(err, test.want) || call.Revision != test.arrives {
					t.Errorf("got revision %d, %v, want %d, %v", call.Revision, err, test.arrives, test.want)
				}
				took := time.Since(begin)
				if test.waits >= 0 && took != test.waits || took > guidon.MaxRevisionWait {
					t.Errorf("it took %v, want %v", took, test.waits)
				}
				if asked := len(test.store.calls); test.asked >= 0 && asked != test.asked || asked > 20 {
					t.Errorf("asked %d times, want %d", asked, test.asked)
				}
				for i, told := range test.store.calls {
					if fresh := i > 0; told.Fresh != fresh || fresh && told.Begun.Before(begin) {
						t.Errorf("question %d: fresh %t, begun %v", i, told.Fresh, told.Begun)
					}
				}
				if call.Fresh {
					t.Error("the demand was left changed")
				}
			})
		})
	}
}

// Who goes away does not wait any longer.
func TestMinRevisionCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		call := &guidon.Call{MinRevision: 9}
		_, err := guidon.NewService(&lagging{revision: 5}, time.Now).GetNamespace(guidon.WithCall(ctx, call), "default")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != 100*time.Millisecond {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
	})
}
