package service_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// recordingStore is a store that records which flags and segments its updates read, of those that
// exist.
type recordingStore struct {
	service.Store
	reads *[]string
}

func (s recordingStore) Update(ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	return s.Store.Update(ctx, namespace, w, func(ctx context.Context, tx service.Tx) error {
		return fn(ctx, recordingTx{tx, s.reads})
	})
}

type recordingTx struct {
	service.Tx
	reads *[]string
}

func (tx recordingTx) record(what string, err error) {
	if err == nil {
		*tx.reads = append(*tx.reads, what)
	}
}

func (tx recordingTx) Flag(ctx context.Context, key string) (*guidon.Flag, error) {
	object, err := tx.Tx.Flag(ctx, key)
	tx.record("flag "+key, err)
	return object, err
}

func (tx recordingTx) Flags(ctx context.Context) ([]*guidon.Flag, error) {
	tx.record("all flags", nil)
	return tx.Tx.Flags(ctx)
}

func (tx recordingTx) Segment(ctx context.Context, key string) (*guidon.Segment, error) {
	object, err := tx.Tx.Segment(ctx, key)
	tx.record("segment "+key, err)
	return object, err
}

func (tx recordingTx) Segments(ctx context.Context) ([]*guidon.Segment, error) {
	tx.record("all segments", nil)
	return tx.Tx.Segments(ctx)
}

// TestImportReads: an import reads each object that it may change once, when it comes
// to it, and no others. A namespace may be too large to be read as a whole.
func TestImportReads(t *testing.T) {
	const some = `namespace: shop
flags:
- {key: new, name: New, rules: [{segment: guests}]}
- {key: toggle, name: Toggle, type: BOOLEAN_FLAG_TYPE}
segments: [{key: guests, name: Guests, match_type: ALL_MATCH_TYPE}, {key: more, name: More}]`
	for _, test := range []struct {
		mode service.ImportMode
		want []string
	}{
		{service.ImportSkipExisting, nil},
		{service.ImportUpdate, []string{"segment guests", "flag toggle"}},
		{service.ImportReplace, []string{"segment guests", "flag toggle", "flag colour", "segment staff"}},
	} {
		t.Run(test.mode.String(), func(t *testing.T) {
			var reads []string
			s := service.NewService(recordingStore{newStore(t), &reads}, time.Now)
			mustImport(t, s, shop, service.ImportCreate)
			if diff := cmp.Diff([]string(nil), reads); diff != "" {
				t.Errorf("read to create (-want +got):\n%s", diff)
			}
			mustImport(t, s, some, test.mode)
			if diff := cmp.Diff(test.want, reads); diff != "" {
				t.Errorf("read (-want +got):\n%s", diff)
			}
		})
	}
}

// watchedStore is a store that watches all objects put by an update, and checks at its end
// which of them are still in memory.
type watchedStore struct {
	service.Store
	check func(put, inMemory int)
}

func (s watchedStore) Update(ctx context.Context, namespace string, w service.Write, fn func(ctx context.Context, tx service.Tx) error) (int64, error) {
	return s.Store.Update(ctx, namespace, w, func(ctx context.Context, tx service.Tx) error {
		watched := watchedTx{tx, new([]func() bool)}
		err := fn(ctx, watched)
		runtime.GC()
		inMemory := 0
		for _, is := range *watched.inMemory {
			if is() {
				inMemory++
			}
		}
		s.check(len(*watched.inMemory), inMemory)
		return err
	})
}

type watchedTx struct {
	service.Tx
	inMemory *[]func() bool
}

func (tx watchedTx) PutFlag(ctx context.Context, f *guidon.Flag) error {
	watched := weak.Make(f)
	*tx.inMemory = append(*tx.inMemory, func() bool { return watched.Value() != nil })
	return tx.Tx.PutFlag(ctx, f)
}

func (tx watchedTx) PutSegment(ctx context.Context, g *guidon.Segment) error {
	watched := weak.Make(g)
	*tx.inMemory = append(*tx.inMemory, func() bool { return watched.Value() != nil })
	return tx.Tx.PutSegment(ctx, g)
}

// TestImportFreesObjects: an object is freed when it has been stored, before the
// transaction ends. Otherwise a large document would be in memory twice.
func TestImportFreesObjects(t *testing.T) {
	checked := 0
	s := service.NewService(watchedStore{newStore(t), func(put, inMemory int) {
		checked += put
		if inMemory > 0 {
			t.Errorf("%d of %d objects are still in memory", inMemory, put)
		}
	}}, time.Now)
	mustImport(t, s, shop, service.ImportCreate)
	mustImport(t, s, strings.ReplaceAll(shop, "name: ", "name: New "), service.ImportUpdate)
	if checked != 8 {
		t.Errorf("checked %d objects, want 8", checked)
	}
}
