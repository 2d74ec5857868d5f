package service

import (
	"context"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// patchApplier applies patches to one namespace, one after the other in one transaction. All
// references are valid after each step, because segments are put before the flags that
// refer to them and deleted after them.
type patchApplier struct {
	tx        Tx
	namespace string

	// used has all segments that flags refer to when segments are deleted, and possibly
	// others, which cannot be deleted either. If it is nil, all flags are read then, which
	// may need a lot of memory.
	used map[string]bool

	// segments has the existing segments, or is nil as long as they are not needed.
	segments map[string]bool
}

// apply applies the patch, whose objects must be valid by contract 4. It returns
// InvalidArgument if the patch contradicts itself, if a flag refers to a segment that
// does not exist, or if a deleted segment is in use. After an error the transaction must
// be rolled back. Like [Tx.PutFlag], it converts the times of the objects.
func (p *patchApplier) apply(ctx context.Context, patch change.Patch) error {
	if err := patch.Validate(); err != nil {
		return err
	}
	if err := p.put(ctx, patch.Put); err != nil {
		return err
	}
	return p.delete(ctx, patch.Delete)
}

func (p *patchApplier) put(ctx context.Context, objects change.Objects) error {
	if n := objects.Namespace; n != nil {
		if err := p.tx.PutNamespace(ctx, n); err != nil {
			return err
		}
	}
	for _, g := range objects.Segments {
		if err := p.tx.PutSegment(ctx, g); err != nil {
			return err
		}
		if p.segments != nil {
			p.segments[g.Key] = true
		}
	}
	for _, f := range objects.Flags {
		if err := p.checkReferences(ctx, f); err != nil {
			return err
		}
		if err := p.tx.PutFlag(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// checkReferences returns an error if the flag refers to a segment that does not exist.
func (p *patchApplier) checkReferences(ctx context.Context, f *guidon.Flag) error {
	for key := range f.SegmentKeys() {
		if p.segments == nil {
			keys, err := p.tx.SegmentKeys(ctx)
			if err != nil {
				return err
			}
			p.segments = setOf(keys)
		}
		if !p.segments[key] {
			return guidon.Errorf(guidon.InvalidArgument, "flag %q: segment %q not found", p.namespace+"/"+f.Key, p.namespace+"/"+key)
		}
	}
	return nil
}

func (p *patchApplier) delete(ctx context.Context, keys change.Keys) error {
	for _, key := range keys.Flags {
		if err := p.tx.DeleteFlag(ctx, key); err != nil {
			return err
		}
	}
	if len(keys.Segments) == 0 {
		return nil
	}
	if err := p.checkUnused(ctx, keys.Segments); err != nil {
		return err
	}
	for _, key := range keys.Segments {
		if err := p.tx.DeleteSegment(ctx, key); err != nil {
			return err
		}
		delete(p.segments, key)
	}
	return nil
}

// checkUnused returns an error if flags refer to one of the segments. Its message is that of
// contract 5.3; the cause says which flags.
func (p *patchApplier) checkUnused(ctx context.Context, segments []string) error {
	var users map[string]segmentUsers
	if p.used == nil {
		flags, err := p.tx.Flags(ctx)
		if err != nil {
			return err
		}
		users = usersOf(flags, nil)
	}
	for _, key := range segments {
		if u := users[key]; u != nil || p.used[key] {
			err := &guidon.Error{Code: guidon.InvalidArgument, Message: fmt.Sprintf("segment %q is in use", p.namespace+"/"+key)}
			if u != nil {
				err.Err = fmt.Errorf("referred to by %s", u)
			}
			return err
		}
	}
	return nil
}
