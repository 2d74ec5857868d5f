package cache_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/cache"
)

// A write that is refused has changed nothing, so it costs no query, and the state stays
// known even if the database never responds again.
func TestRefusedWrite(t *testing.T) {
	refused := errors.New("refused")
	other := int64(99)
	for name, write := range map[string]func(s *cache.Shared) error{
		"refused": func(s *cache.Shared) error {
			_, err := s.Update(t.Context(), "default", service.Write{}, func(context.Context, service.Tx) error { return refused })
			return err
		},
		"of another revision": func(s *cache.Shared) error {
			_, err := s.Update(t.Context(), "default", service.Write{IfMatch: &other}, nil)
			return err
		},
		"of a new namespace": func(s *cache.Shared) error {
			_, err := s.Update(t.Context(), "new", service.Write{}, func(context.Context, service.Tx) error { return refused })
			return err
		},
		"of authentications": func(s *cache.Shared) error {
			return s.UpdateAuthentications(t.Context(), service.Write{}, func(context.Context, service.AuthenticationTx) error { return refused })
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := newSource(t)
			s := cache.NewShared(db, cache.Freshness{MaxAge: time.Hour})
			read := func() {
				t.Helper()
				for _, key := range []string{"default", authentications} {
					wantNumber(t, key, readAs(t.Context(), s, service.Demand{}, key), map[string]int64{"default": 1}[key])
				}
			}
			read()
			if err := write(s); !errors.Is(err, refused) && !errors.Is(err, guidon.FailedPrecondition) {
				t.Fatal(err)
			}
			before := db.total()
			db.fail = errUnavailable
			read()
			if got := db.total() - before; got > 0 {
				t.Errorf("%d queries after the write, want none", got)
			}
		})
	}
}
