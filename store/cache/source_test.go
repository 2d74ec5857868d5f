package cache_test

import (
	"context"
	"sync"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// source counts the calls to a real store and can block a load or make it fail.
type source struct {
	*store.DB
	began      chan struct{}      // receives when a load of a snapshot has begun
	gate       chan struct{}      // blocks loads before they read
	read       chan struct{}      // receives when a load has read
	after      chan struct{}      // blocks loads after they have read
	fail       error              // instead of reading
	mu         sync.Mutex         // guards the counts
	calls      map[string]int     // by method
	held       []*guidon.Snapshot // the snapshot passed to each load
	heldTokens []*service.AuthenticationSet
	unmirrored bool    // writes do not advance their mirrors
	ended      []error // the state of each load's context at its end
}

func newSource(t testing.TB) *source { return &source{DB: openSQLite(t), calls: map[string]int{}} }

func (s *source) count(method string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[method]++
}

func (s *source) total() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, count := range s.calls {
		n += count
	}
	return n
}

func (s *source) Heads(ctx context.Context, keys []string) (map[string]guidon.Revision, error) {
	s.count("Heads")
	if s.fail != nil {
		return nil, s.fail
	}
	return s.DB.Heads(ctx, keys)
}

func (s *source) Namespaces(ctx context.Context) ([]*guidon.Namespace, error) {
	s.count("Namespaces")
	return s.DB.Namespaces(ctx)
}

func (s *source) LoadAuthentications(ctx context.Context, held *service.AuthenticationSet) (*service.AuthenticationSet, error) {
	s.count("LoadAuthentications")
	s.mu.Lock()
	s.heldTokens = append(s.heldTokens, held)
	s.mu.Unlock()
	return s.DB.LoadAuthentications(ctx, held)
}

func (s *source) UpdateAuthenticationsMirrored(ctx context.Context, w service.Write, mirror service.Mirror[service.AuthenticationDelta], fn func(context.Context, service.AuthenticationTx) error) error {
	if s.unmirrored {
		mirror = nil
	}
	return s.DB.UpdateAuthenticationsMirrored(ctx, w, mirror, fn)
}

func (s *source) UpdateMirrored(ctx context.Context, namespace string, w service.Write, mirror service.Mirror[guidon.SnapshotDelta], fn func(context.Context, service.Tx) error) (int64, error) {
	if s.unmirrored {
		mirror = nil
	}
	return s.DB.UpdateMirrored(ctx, namespace, w, mirror, fn)
}

func (s *source) Load(ctx context.Context, namespace string, held *guidon.Snapshot) (*guidon.Snapshot, error) {
	s.count("Load")
	s.mu.Lock()
	s.held = append(s.held, held)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ended = append(s.ended, ctx.Err())
	}()
	if s.began != nil {
		s.began <- struct{}{}
	}
	if err := pass(ctx, s.gate); err != nil {
		return nil, err
	}
	if s.fail != nil {
		return nil, s.fail
	}
	shot, err := s.DB.Load(ctx, namespace, held)
	if s.read != nil {
		s.read <- struct{}{}
	}
	if err := pass(ctx, s.after); err != nil {
		return nil, err
	}
	return shot, err
}

func pass(ctx context.Context, gate chan struct{}) error {
	if gate == nil {
		return nil
	}
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
