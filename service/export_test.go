package service

import (
	"context"

	"github.com/guidonhq/guidon/change"
)

// TurnOff and TurnOn change a flag as TurnFlagOff and TurnFlagOn do.
var TurnOff, TurnOn = turnOff, turnOn

// ApplyPatches applies the patches to the namespace of the transaction, one after the
// other.
func ApplyPatches(ctx context.Context, tx Tx, namespace string, patches ...change.Patch) error {
	p := &patchApplier{tx: tx, namespace: namespace}
	for _, patch := range patches {
		if err := p.apply(ctx, patch); err != nil {
			return err
		}
	}
	return nil
}
