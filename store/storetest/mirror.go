package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// After every update a copy equals what a load returns, although the copy itself is loaded
// only once. The updates make changes of all kinds, or none. In between, others write through
// the other instance.
func testMirror(t *testing.T, both [2]*store.DB) {
	s, other := both[0], both[1]
	t.Run("Namespaces", func(t *testing.T) {
		for seed := range uint64(4) {
			namespace := fmt.Sprint("mirrored-", seed)
			w := newRandomWriter(namespace, seed)
			var m mirrorCopy[guidon.Snapshot, guidon.SnapshotDelta]
			m.apply, m.revision, m.empty = (*guidon.Snapshot).Apply, (*guidon.Snapshot).Revision, guidon.NewSnapshot(nil, guidon.Revision{}, nil, nil)
			for n := range 60 {
				for w.random.IntN(3) == 0 {
					_, err := other.Update(t.Context(), namespace, service.Write{}, w.change)
					mustSucceed(t, err)
				}
				if m.held == nil { // a namespace that does not exist needs no load
					m.held, _, _ = s.Snapshot(t.Context(), namespace, service.Demand{})
				}
				_, err := s.UpdateMirrored(t.Context(), namespace, service.Write{}, &m, w.change)
				mustSucceed(t, err)
				want, _, err := s.Snapshot(t.Context(), namespace, service.Demand{})
				if errors.Is(err, guidon.NotFound) {
					if m.held != nil && m.held.Namespace() != nil {
						t.Fatalf("seed %d, write %d: the copy has a deleted namespace", seed, n)
					}
					continue
				}
				mustSucceed(t, err)
				mustEqual(t, fmt.Sprintf("seed %d, write %d: the copy", seed, n), parts(want), parts(m.held))
			}
		}
	})
	t.Run("Authentications", func(t *testing.T) {
		w := newRandomWriter("", 1)
		var m mirrorCopy[service.AuthenticationSet, service.AuthenticationDelta]
		m.held, m.empty = authentications(t, s), service.NewAuthenticationSet(guidon.Revision{}, nil)
		m.apply, m.revision = (*service.AuthenticationSet).Apply, (*service.AuthenticationSet).Revision
		for n := range 100 {
			for w.random.IntN(3) == 0 {
				mustSucceed(t, other.UpdateAuthentications(t.Context(), service.Write{}, w.changeAuthentications))
			}
			mustSucceed(t, s.UpdateAuthenticationsMirrored(t.Context(), service.Write{}, &m, w.changeAuthentications))
			if wantSet(t, fmt.Sprintf("write %d: the copy", n), authentications(t, s), m.held); t.Failed() {
				return
			}
		}
	})
	t.Run("ManyAuthentications", func(t *testing.T) {
		testMirrorMany(t, s, other)
	})
	t.Run("Failed", func(t *testing.T) {
		m := mirrorCopy[guidon.Snapshot, guidon.SnapshotDelta]{ignore: true}
		_, err := s.UpdateMirrored(t.Context(), defaultNamespace, service.Write{}, &m, func(ctx context.Context, tx service.Tx) error {
			return errors.Join(tx.PutFlag(ctx, &guidon.Flag{Key: "failed"}), errStop)
		})
		if !errors.Is(err, errStop) {
			t.Errorf("got %v, want the error of the function", err)
		}
		if m.advanced || !m.unchanged {
			t.Error("the copy was advanced to a state that was not committed, or it was not told that there is none")
		}
	})
}

// testMirrorMany makes more changes than are read by id, while the copy lacks one that
// another store made. The bindings, which have not changed, must survive.
func testMirrorMany(t *testing.T, s, other *store.DB) {
	mustSucceed(t, s.UpdateAuthentications(t.Context(), service.Write{}, putBindings(newBinding("survivor", service.RoleViewer))))
	var m mirrorCopy[service.AuthenticationSet, service.AuthenticationDelta]
	m.held, m.empty = authentications(t, s), service.NewAuthenticationSet(guidon.Revision{}, nil)
	m.apply, m.revision = (*service.AuthenticationSet).Apply, (*service.AuthenticationSet).Revision
	for name, before := range map[string]func(){
		"current": func() {},
		"behind":  func() { putAuthentication(t, other, newAuthentication("by another")) },
	} {
		before()
		mustSucceed(t,
			s.UpdateAuthenticationsMirrored(t.Context(), service.Write{}, &m, func(ctx context.Context, tx service.AuthenticationTx) error {
				for i := range 520 {
					if err := tx.PutAuthentication(ctx, newAuthentication(fmt.Sprint("mirrored ", name, i))); err != nil {
						return err
					}
				}
				return nil
			}))
		wantSet(t, name+": the copy", authentications(t, s), m.held)
	}
}

// mirrorCopy is a [service.Mirror] that must be advanced to every state.
type mirrorCopy[T, D any] struct {
	held     *T
	empty    *T
	revision func(*T) guidon.Revision
	apply    func(*T, ...D) *T
	ignore   bool
	advanced bool

	unchanged bool
}

func (c *mirrorCopy[T, D]) Held() (guidon.Revision, bool) {
	if c.held == nil {
		return guidon.Revision{}, false
	}
	return c.revision(c.held), true
}

func (c *mirrorCopy[T, D]) Unchanged() { c.unchanged = true }

func (c *mirrorCopy[T, D]) Advance(from guidon.Revision, deltas ...D) {
	c.advanced = true
	switch {
	case c.ignore:
	case from == guidon.Revision{}:
		c.held = c.apply(c.empty, deltas...)
	default:
		c.held = c.apply(c.held, deltas...)
	}
}

type snapshotParts struct {
	Namespace *guidon.Namespace
	Revision  guidon.Revision
	Flags     []*guidon.Flag
	Segments  []*guidon.Segment
}

func parts(s *guidon.Snapshot) snapshotParts {
	if s == nil {
		return snapshotParts{}
	}
	p := snapshotParts{Namespace: s.Namespace(), Revision: s.Revision()}
	p.Flags = append(p.Flags, s.Flags()...)
	p.Segments = append(p.Segments, s.Segments()...)
	return p
}
