package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// flakyDB is a shared database that can be unavailable.
type flakyDB struct {
	cache.SharedSource // nil: no other methods are called
	down               atomic.Bool
}

func (f *flakyDB) Heads(context.Context, []string) (map[string]guidon.Revision, error) {
	if f.down.Load() {
		return nil, guidon.Errorf(guidon.Unavailable, "down")
	}
	return map[string]guidon.Revision{"default": {Number: 1}}, nil
}

func (f *flakyDB) Load(context.Context, string, *guidon.Snapshot) (*guidon.Snapshot, error) {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, nil, nil), nil
}

func (f *flakyDB) LoadAuthentications(context.Context, *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	return service.NewAuthenticationSet(guidon.Revision{}, nil), nil
}

// The interval of the loop is well below MaxAge, and short enough to notice the end of
// an outage. An SQLite file needs no loop.
func TestFreshnessLoop(t *testing.T) {
	for bound, want := range map[time.Duration]time.Duration{
		0: time.Second, 300 * time.Millisecond: 200 * time.Millisecond, time.Hour: time.Second,
	} {
		loops := newFreshness(cache.NewShared(&flakyDB{}, cache.Freshness{MaxAge: bound}), nil, bound).loops(slog.New(slog.DiscardHandler))
		if len(loops) != 1 || loops[0].Interval != want {
			t.Errorf("max age %v: got %+v, want one loop that runs every %v", bound, loops, want)
		}
	}
	single := newFreshness(cache.New(nil), nil, 0)
	if loops := single.loops(nil); loops != nil || single.outage() != nil {
		t.Errorf("SQLite: got loops %+v or an outage, want neither", loops)
	}
}

// The start and the end of an outage are logged once, however long it is.
func TestOutageIsLoggedOnce(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		db := &flakyDB{}
		shared := cache.NewShared(db, cache.Freshness{})
		loop := newFreshness(shared, nil, 0).loops(slog.New(slog.NewTextHandler(&log, nil)))[0]
		for _, down := range []bool{false, true, false, true, false} {
			db.down.Store(down)
			_, _, _ = shared.Snapshot(t.Context(), "default", service.Demand{})
			for range 10 {
				time.Sleep(time.Second) // of the bubble's clock
				if err := loop.Run(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		for text, want := range map[string]int{"level=WARN": 2, "the database is unavailable": 2, "the database is available again": 2} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("%q is in the log %d times, want %d:\n%s", text, got, want, log.String())
			}
		}
	})
}
