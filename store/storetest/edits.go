package storetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

func newFlag(key string) *guidon.Flag { return &guidon.Flag{Key: key, Name: "Flag " + key} }

func renamed(key, name string) *guidon.Flag { return &guidon.Flag{Key: key, Name: name} }

// numberedFlags returns flags with the keys that end in 0, 1, ….
func numberedFlags(prefix string, count int) []*guidon.Flag {
	flags := make([]*guidon.Flag, count)
	for i := range flags {
		flags[i] = newFlag(fmt.Sprint(prefix, i))
	}
	return flags
}

func newSegment(key string) *guidon.Segment {
	return &guidon.Segment{Key: key, Name: "Segment " + key}
}

// edit is a part of an update of a namespace.
type edit = func(ctx context.Context, tx service.Tx) error

// putObjects puts flags, segments, or the namespace.
func putObjects(objects ...any) edit { return putAll(objects) }

func putAll[T any](objects []T) edit {
	return func(ctx context.Context, tx service.Tx) (err error) {
		for _, object := range objects {
			switch o := any(object).(type) {
			case *guidon.Flag:
				err = errors.Join(err, tx.PutFlag(ctx, o))
			case *guidon.Segment:
				err = errors.Join(err, tx.PutSegment(ctx, o))
			case *guidon.Namespace:
				err = errors.Join(err, tx.PutNamespace(ctx, o))
			}
		}
		return err
	}
}

// editNamespace puts the namespace after do has changed it.
func editNamespace(do func(n *guidon.Namespace)) edit {
	return func(ctx context.Context, tx service.Tx) error {
		n, err := tx.Namespace(ctx)
		if err != nil {
			return err
		}
		do(n)
		return tx.PutNamespace(ctx, n)
	}
}

func deleteFlags(keys ...string) edit {
	return func(ctx context.Context, tx service.Tx) (err error) {
		for _, key := range keys {
			err = errors.Join(err, tx.DeleteFlag(ctx, key))
		}
		return err
	}
}

func deleteSegment(key string) edit {
	return func(ctx context.Context, tx service.Tx) error { return tx.DeleteSegment(ctx, key) }
}

// inOneUpdate makes the changes one after the other, until one fails.
func inOneUpdate[T any](all ...func(ctx context.Context, tx T) error) func(ctx context.Context, tx T) error {
	return func(ctx context.Context, tx T) error {
		for _, change := range all {
			if err := change(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	}
}
