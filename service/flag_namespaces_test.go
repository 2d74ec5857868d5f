package service_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// manyNamespaces is a store with snapshots in memory, of which one may be unreadable.
type manyNamespaces struct {
	service.Store
	list      []*guidon.Namespace
	snapshots map[string]*guidon.Snapshot
	broken    string
}

func (s *manyNamespaces) Namespaces(context.Context) ([]*guidon.Namespace, error) { return s.list, nil }

func (s *manyNamespaces) Snapshot(_ context.Context, key string, _ service.Demand) (*guidon.Snapshot, time.Duration, error) {
	if key == s.broken {
		return nil, 0, errors.New("a row is damaged")
	}
	return s.snapshots[key], 0, nil
}

func newManyNamespaces(n, flags int) *manyNamespaces {
	s := &manyNamespaces{snapshots: map[string]*guidon.Snapshot{}}
	for i := range n {
		shop := largeNamespace(flags)
		namespace := &guidon.Namespace{Key: fmt.Sprintf("n%d", i), Name: "N"}
		s.list = append(s.list, namespace)
		s.snapshots[namespace.Key] = guidon.NewSnapshot(namespace, shop.Revision(), shop.Flags(), shop.Segments())
	}
	return s
}

// TestFlagNamespacesUnavailable: a namespace that cannot be read says so, beside the others.
func TestFlagNamespacesUnavailable(t *testing.T) {
	s := newManyNamespaces(3, 2)
	s.broken = "n1"
	found, page, err := service.NewService(s, time.Now).FlagNamespaces(t.Context(), service.Caller{}, service.Demand{}, "checkout-step-0", "n0", service.PageRequest{})
	if err != nil || len(found) != 3 || page.Total != 3 {
		t.Fatalf("got %v %v %v", found, page, err)
	}
	for i, in := range found {
		if broken := i == 1; (in.Err != nil) != broken || (in.Flag != nil) == broken || in.Same == broken {
			t.Errorf("%s: got %v, flag %v, same %t", in.Namespace.Key, in.Err, in.Flag, in.Same)
		}
	}
	s.broken = "n0"
	if _, _, err := service.NewService(s, time.Now).FlagNamespaces(t.Context(), service.Caller{}, service.Demand{}, "checkout-step-0", "n0", service.PageRequest{}); err == nil {
		t.Error("there is nothing to compare with, and no error")
	}
}

// TestFlagNamespacesCanceled: a request that has ended gets its error, not an empty list.
func TestFlagNamespacesCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := service.NewService(newManyNamespaces(1, 1), time.Now).FlagNamespaces(ctx, service.Caller{}, service.Demand{}, "f", "", service.PageRequest{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

// BenchmarkFlagNamespaces compares a flag in 100 namespaces.
func BenchmarkFlagNamespaces(b *testing.B) {
	s := service.NewService(newManyNamespaces(100, 1000), time.Now)
	run := func() {
		found, _, err := s.FlagNamespaces(b.Context(), service.Caller{}, service.Demand{}, "checkout-step-0", "n0", service.PageRequest{})
		if err != nil || len(found) != 100 || !found[99].Same {
			b.Fatal(len(found), err)
		}
	}
	run()
	for b.Loop() {
		run()
	}
}
