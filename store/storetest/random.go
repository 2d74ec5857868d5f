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
		return put(ctx, w.key("segment-"), tx.Segment, w.Segment, w.EditSegment, tx.PutSegment)
	}
	return put(ctx, w.key("flag-"), tx.Flag, w.Flag, w.EditFlag, tx.PutFlag)
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

// put edits the object with the key, or creates it.
func put[T any](
	ctx context.Context, key string, read func(context.Context, string) (*T, error), create func(string) *T, edit func(*T) *T,
	write func(context.Context, *T) error,
) error {
	have, err := read(ctx, key)
	switch {
	case errors.Is(err, guidon.NotFound):
		return write(ctx, create(key))
	case err != nil:
		return err
	}
	return write(ctx, edit(have))
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
