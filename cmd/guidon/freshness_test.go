package main

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/store/cache"
)

// flakyDB is a shared database that can be away.
type flakyDB struct {
	cache.SharedSource // nil: nothing else is asked
	down               atomic.Bool
}

func (f *flakyDB) Heads(context.Context, []string) (map[string]guidon.Revision, error) {
	if f.down.Load() {
		return nil, guidon.Errorf(guidon.Unavailable, "away")
	}
	return map[string]guidon.Revision{"default": {Number: 1}}, nil
}

func (f *flakyDB) Load(context.Context, string, *guidon.Snapshot) (*guidon.Snapshot, error) {
	return guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, nil, nil), nil
}

func (f *flakyDB) LoadAuthentications(context.Context, *guidon.AuthenticationSet) (*guidon.AuthenticationSet, error) {
	return guidon.NewAuthenticationSet(guidon.Revision{}, nil), nil
}

// The loop runs well within the bound, and often enough to notice the end of an
// outage. An SQLite file needs none.
func TestFreshnessLoop(t *testing.T) {
	for bound, want := range map[time.Duration]time.Duration{
		0: time.Second, 300 * time.Millisecond: 200 * time.Millisecond, time.Hour: time.Second,
	} {
		loops := newFreshness(cache.NewShared(&flakyDB{}, cache.Freshness{MaxAge: bound}), nil, bound).loops(slog.New(slog.DiscardHandler))
		if len(loops) != 1 || loops[0].Interval != want {
			t.Errorf("bound %v: got %+v, want one that runs every %v", bound, loops, want)
		}
	}
	single := newFreshness(cache.New(nil), nil, 0)
	if loops := single.loops(nil); loops != nil || single.outage() != nil {
		t.Errorf("SQLite: got loops %+v, and an outage that there cannot be", loops)
	}
}

// An outage is in the log when it begins and when it ends, however long it is.
func TestOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		db := &flakyDB{}
		shared := cache.NewShared(db, cache.Freshness{})
		loop := newFreshness(shared, nil, 0).loops(slog.New(slog.NewTextHandler(&log, nil)))[0]
		for _, down := range []bool{false, true, false, true, false} {
			db.down.Store(down)
			_, _ = shared.Snapshot(t.Context(), "default")
			for range 10 {
				time.Sleep(time.Second) // of the bubble's clock
				if err := loop.Run(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		for text, want := range map[string]int{"level=WARN": 2, "the database does not answer": 2, "the database answers again": 2} {
			if got := strings.Count(log.String(), text); got != want {
				t.Errorf("%q is in the log %d times, want %d:\n%s", text, got, want, log.String())
			}
		}
	})
}
