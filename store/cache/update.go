package cache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// Update implements [guidon.Store]. What it may have changed is old before it
// returns, also when it returns an error after fn succeeded: whether the commit
// took effect is then not certain.
func (c *Cache) Update(ctx context.Context, namespace string, fn func(ctx context.Context, tx guidon.Tx) error) error {
	stored, listed := false, false
	defer func() {
		if stored {
			c.markOld(namespace, listed)
		}
	}()
	return c.source.Update(ctx, namespace, func(ctx context.Context, tx guidon.Tx) error {
		stored, listed = false, false
		if err := fn(ctx, &watchedTx{Tx: tx, listed: &listed}); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// markOld marks the namespace's snapshot as old, and the list of namespaces where
// that may have changed. The list goes first: who sees a new namespace listed
// must not find its snapshot missing.
func (c *Cache) markOld(namespace string, listed bool) {
	defer c.watches.wake(namespace)
	d := c.latestDirectory()
	if listed {
		c.directory.markOld()
	}
	if d == nil {
		return
	}
	if s := d.slots[namespace]; s != nil {
		s.markOld()
	}
}

// latestDirectory returns the directory last loaded, old or not. All directories
// that are in use share the places of the namespaces they have in common.
func (c *Cache) latestDirectory() *directory {
	return c.directory.last()
}

// UpdateAuthentications implements [guidon.Store].
func (c *Cache) UpdateAuthentications(ctx context.Context, fn func(ctx context.Context, tx guidon.AuthenticationTx) error) error {
	stored := false
	defer func() {
		if stored {
			c.authentications.markOld()
			c.watches.wakeAll()
		}
	}()
	return c.source.UpdateAuthentications(ctx, func(ctx context.Context, tx guidon.AuthenticationTx) error {
		stored = false
		if err := fn(ctx, tx); err != nil {
			return err
		}
		stored = true
		return nil
	})
}

// watchedTx notices whether the list of namespaces may change.
type watchedTx struct {
	guidon.Tx
	listed *bool
}

func (tx *watchedTx) PutNamespace(ctx context.Context, n *guidon.Namespace) error {
	*tx.listed = true
	return tx.Tx.PutNamespace(ctx, n)
}

func (tx *watchedTx) DeleteNamespace(ctx context.Context) error {
	*tx.listed = true
	return tx.Tx.DeleteNamespace(ctx)
}
