package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/flagtest"
	"github.com/guidonhq/guidon/service"
)

// randomWriter makes random changes of everything that a namespace consists of, and of
// authentications. The same seed makes the same ones.
type randomWriter struct {
	*flagtest.Source
	random    *rand.Rand
	namespace string
}

func newRandomWriter(namespace string, seed uint64) *randomWriter {
	return &randomWriter{
		Source: flagtest.NewSource(seed), namespace: namespace,
		random: rand.New(rand.NewPCG(seed, 1)), // #nosec G404 -- repeatable, for tests
	}
}

// key returns one of a few keys, so that the same objects change again and again.
func (w *randomWriter) key(kind string) string { return fmt.Sprint(kind, w.random.IntN(5)) }

// change makes some changes of the namespace, or none. It creates the namespace if there is none.
func (w *randomWriter) change(ctx context.Context, tx service.Tx) error {
	n, err := tx.Namespace(ctx)
	if errors.Is(err, guidon.NotFound) {
		return errors.Join(tx.PutNamespace(ctx, w.Namespace(w.namespace)), w.changeObject(ctx, tx))
	}
	if err != nil {
		return err
	}
	switch w.random.IntN(25) {
	case 0:
		return tx.DeleteNamespace(ctx)
	case 1:
		return nil
	case 2:
		return tx.PutNamespace(ctx, w.EditNamespace(n))
	}
	for range 1 + w.random.IntN(4) {
		if err := w.changeObject(ctx, tx); err != nil {
			return err
		}
	}
	return nil
}

func (w *randomWriter) changeObject(ctx context.Context, tx service.Tx) error {
	switch w.random.IntN(8) {
	case 0:
		return tx.DeleteFlag(ctx, w.key("flag-"))
	case 1:
		return tx.DeleteSegment(ctx, w.key("segment-"))
	case 2:
		return w.recreate(ctx, tx)
	case 3, 4:
		return w.putSegment(ctx, tx, w.key("segment-"))
	}
	return w.putFlag(ctx, tx, w.key("flag-"))
}

// recreate deletes a flag and a segment and creates others with their keys. A segment between
// them does not stay.
func (w *randomWriter) recreate(ctx context.Context, tx service.Tx) error {
	f, g := w.Flag(w.key("flag-")), w.Segment(w.key("segment-"))
	return errors.Join(
		tx.DeleteFlag(ctx, f.Key), tx.DeleteSegment(ctx, g.Key),
		tx.PutSegment(ctx, newSegment("passing")), tx.PutSegment(ctx, g), tx.PutFlag(ctx, f),
		tx.DeleteSegment(ctx, "passing"))
}

// putFlag edits the flag with the key, or creates it.
func (w *randomWriter) putFlag(ctx context.Context, tx service.Tx, key string) error {
	f, err := tx.Flag(ctx, key)
	if errors.Is(err, guidon.NotFound) {
		return tx.PutFlag(ctx, w.Flag(key))
	}
	if err != nil {
		return err
	}
	return tx.PutFlag(ctx, w.EditFlag(f))
}

// putSegment edits the segment with the key, or creates it.
func (w *randomWriter) putSegment(ctx context.Context, tx service.Tx, key string) error {
	g, err := tx.Segment(ctx, key)
	if errors.Is(err, guidon.NotFound) {
		return tx.PutSegment(ctx, w.Segment(key))
	}
	if err != nil {
		return err
	}
	return tx.PutSegment(ctx, w.EditSegment(g))
}

// changeAuthentications creates, changes, deletes or replaces some authentications and
// bindings.
func (w *randomWriter) changeAuthentications(ctx context.Context, tx service.AuthenticationTx) error {
	switch w.random.IntN(6) {
	case 0:
		if err := tx.DeleteBinding(ctx, w.key("id-")); err != nil {
			return err
		}
	case 1:
		b := newBinding(w.key("id-"), service.RoleViewer)
		b.CreatedBy = w.unique()
		if err := tx.PutBinding(ctx, b); err != nil {
			return err
		}
	}
	for range w.random.IntN(3) {
		if err := w.changeAuthentication(ctx, tx, w.key("id-")); err != nil {
			return err
		}
	}
	return nil
}

func (w *randomWriter) changeAuthentication(ctx context.Context, tx service.AuthenticationTx, id string) error {
	if w.random.IntN(3) == 0 {
		if err := tx.DeleteAuthentication(ctx, id); err != nil {
			return err
		}
	}
	if w.random.IntN(3) == 0 {
		return nil
	}
	return tx.PutAuthentication(ctx, rotated(id, w.unique()))
}

func (w *randomWriter) unique() string { return fmt.Sprintf("%016x", w.random.Uint64()) }
