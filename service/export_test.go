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

// KeptDeltas returns how many deltas the set keeps, and how many of them have bindings.
func (s *AuthenticationSet) KeptDeltas() (all, withBindings int) {
	for _, d := range s.since {
		if d.Bindings != nil {
			withBindings++
		}
	}
	return len(s.since), withBindings
}
