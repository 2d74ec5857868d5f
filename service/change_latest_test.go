package service_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// askedStore is a store that notes the keys whose latest changes were read.
type askedStore struct {
	service.Store
	mu     sync.Mutex
	asked  []string
	before func() // what happens before they are read; optional
}

func (s *askedStore) LatestChanges(ctx context.Context, namespace string, kind change.Kind, keys []string) ([]*change.Record, error) {
	s.mu.Lock()
	s.asked = append(s.asked, strings.Join(keys, " "))
	before := s.before
	s.mu.Unlock()
	if before != nil {
		before()
	}
	return s.Store.LatestChanges(ctx, namespace, kind, keys)
}

// TestLatestChangesAreRemembered: the record of a flag is read once, until the flag changes
// or the record may have been deleted.
func TestLatestChangesAreRemembered(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	asked := &askedStore{Store: cache.New(newStore(t))}
	s := service.NewService(asked, func() time.Time { return now })
	mustImport(t, s, "namespace: default\nflags:\n  - {key: a, name: A}\n  - {key: b, name: B}\nsegments:\n  - {key: a, name: A}\n", service.ImportReplace)
	rename := func(key, name, why string) {
		t.Helper()
		if _, _, err := s.UpdateFlag(t.Context(), service.Write{Message: why}, "default", guidon.Flag{Key: key, Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		name        string
		do          func()
		kind        change.Kind
		keys        []string
		want, asked []string
	}{
		{"first", nil, "flag", []string{"a", "b", "none"}, []string{"2.1 create a ", "2.2 create b "}, []string{"a b none"}},
		{"again", nil, "flag", []string{"b", "a", "b"}, []string{"2.2 create b ", "2.1 create a "}, nil},
		{"a segment with the key of a flag", nil, "segment", []string{"a"}, []string{"2.0 create a "}, []string{"a"}},
		{"a flag changed", func() { rename("a", "AA", "why") }, "flag", []string{"a", "b"}, []string{"3.0 update a why", "2.2 create b "}, []string{"a"}},
		{"changed while it is read", func() {
			rename("b", "BB", "earlier")
			asked.before = func() { rename("b", "BBB", "later") }
		}, "flag", []string{"a", "b"}, []string{"3.0 update a why", "5.0 update b later"}, []string{"b"}},
		{"what was newer is read again", nil, "flag", []string{"b"}, []string{"5.0 update b later"}, []string{"b"}},
		{"and remembered", nil, "flag", []string{"a", "b"}, []string{"3.0 update a why", "5.0 update b later"}, nil},
		{"just before it may be deleted", func() { now = now.Add(5 * time.Minute) }, "flag", []string{"a"}, []string{"3.0 update a why"}, nil},
		{"later", func() { now = now.Add(time.Second) }, "flag", []string{"a"}, []string{"3.0 update a why"}, []string{"a"}},
		{"deleted", func() {
			if _, err := s.DeleteFlag(t.Context(), service.Write{}, "default", "a"); err != nil {
				t.Fatal(err)
			}
		}, "flag", []string{"a", "b"}, []string{"5.0 update b later"}, []string{"a b"}},
	} {
		asked.asked, asked.before = nil, nil
		if step.do != nil {
			step.do()
		}
		records, _, err := s.LatestChangesWithoutObjects(t.Context(), service.Demand{}, "default", step.kind, step.keys)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		var got []string
		for _, c := range records {
			got = append(got, fmt.Sprintf("%d.%d %s %s %s", c.Revision, c.Sequence, c.Action, c.Key, c.Message))
		}
		if diff := cmp.Diff(step.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.asked, asked.asked); diff != "" {
			t.Errorf("%s: read (-want +got):\n%s", step.name, diff)
		}
	}
}

// TestLatestChangesConcurrently: readers never see an author from before a change that they
// have seen.
func TestLatestChangesConcurrently(t *testing.T) {
	db := newStore(t)
	s := service.NewService(cache.New(db), time.Now)
	mustImport(t, s, "namespace: default\nflags:\n  - {key: a, name: A}\n", service.ImportReplace)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				records, state, err := s.LatestChangesWithoutObjects(t.Context(), service.Demand{}, "default", change.KindFlag, []string{"a"})
				if err != nil || len(records) != 1 || records[0].Revision < state.Revision {
					t.Errorf("at revision %d: got %v, %v", state.Revision, records, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 50 {
		if _, _, err := s.UpdateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "a", Name: fmt.Sprint("A", i)}); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
}
