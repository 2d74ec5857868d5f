package service

import (
	"context"

	"github.com/guidonhq/guidon/change"
)

// ApplyPatches applies the patches to the namespace of the transaction, one after the
// other.
func ApplyPatches(ctx context.Context, tx Tx, namespace string, patches ...change.Patch) error {
	p := &patching{tx: tx, namespace: namespace}
	for _, patch := range patches {
		if err := p.apply(ctx, patch); err != nil {
			return err
		}
	}
	return nil
}
