package guidon

import (
	"context"
	"errors"
)

// ImportMode says what becomes of objects that the namespace already holds.
type ImportMode uint8

// The import modes.
const (
	ImportCreate       ImportMode = iota // one that exists already fails the import
	ImportSkipExisting                   // one that exists already stays as it is
	ImportUpdate                         // one that exists already is made equal to the document's
	ImportReplace                        // as ImportUpdate, and what the document lacks is deleted
)

var importModeNames = []string{"create", "skip existing", "update", "replace"}

// String returns a word or two for messages.
func (m ImportMode) String() string { return enumName(importModeNames, m) }

// ImportResult says what an import did or, on a dry run, would do.
type ImportResult struct {
	Namespace string
	Revision  int64 // current after the import
	DryRun    bool
	Changes   []*ImportChange // in the order of the change records
	Unchanged int             // flags and segments that were as the document has them
	Skipped   []string        // "flag/<key>" and "segment/<key>", left alone by ImportSkipExisting
}

// ImportChange is what an import does to one object. Before and After are
// documents of that object alone, nil where it does not exist.
type ImportChange struct {
	Kind   Kind
	Key    string
	Action Action
	Before *Document
	After  *Document
}

// errDryRun takes back what a dry run did.
var errDryRun = errors.New("dry run")

// Import brings the document into the namespace, all of it or nothing. A
// namespace that does not exist is created, the default one excepted, which is
// neither created nor modified (contract 13.2). The updating modes give an
// existing one the name and description that the document states. What is
// equal already is not touched; an import that changes nothing uses no
// revision. A dry run checks and answers the same and stores nothing.
//
// It returns InvalidArgument with every problem of the document, as
// [Document.Validate] does but knowing the stored segments too, or for the
// first object that must not exist yet; NotFound when there is no default
// namespace; and TooLarge for a flag or segment that cannot be stored.
func (s *Service) Import(ctx context.Context, namespace string, doc *Document, mode ImportMode, dryRun bool) (*ImportResult, error) {
	namespace = NamespaceKey(namespace)
	if err := checkEnum("mode", importModeNames, mode); err != nil {
		return nil, err
	}
	if key := doc.Namespace.Key; key != "" && key != namespace {
		return nil, Errorf(InvalidArgument, "document of namespace %q cannot be imported into namespace %q", key, namespace)
	}
	call := CallFrom(ctx)
	ctx = WithCall(ctx, call) // the store reports the revision in it
	var plan *importPlan
	err := s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		state, err := readImportState(ctx, tx, namespace)
		if err != nil {
			return err
		}
		if plan, err = planImport(state, doc, mode, tx.Now()); err != nil {
			return err
		}
		if err := plan.store(ctx, tx); err != nil {
			return err
		}
		if dryRun {
			return errDryRun
		}
		return nil
	})
	if err != nil && !errors.Is(err, errDryRun) {
		return nil, err
	}
	plan.result.DryRun, plan.result.Revision = dryRun, call.Revision
	return plan.result, nil
}

// importState is what a namespace holds before an import.
type importState struct {
	key       string
	namespace *Namespace // nil: does not exist
	flags     []*Flag
	segments  []*Segment
}

func readImportState(ctx context.Context, tx Tx, key string) (importState, error) {
	state := importState{key: key}
	var err error
	state.namespace, err = existingNamespace(ctx, tx, key)
	if errors.Is(err, NotFound) && key != DefaultNamespace {
		return importState{key: key}, nil
	}
	if err != nil {
		return state, err
	}
	if state.flags, err = tx.Flags(ctx); err != nil {
		return state, err
	}
	state.segments, err = tx.Segments(ctx)
	return state, err
}

// store carries the plan out. References hold after every step: segments come
// before the flags that name them and go after them.
func (p *importPlan) store(ctx context.Context, tx Tx) error {
	if p.namespace != nil {
		if err := tx.PutNamespace(ctx, p.namespace); err != nil {
			return err
		}
	}
	for _, g := range p.segments {
		if err := tx.PutSegment(ctx, g); err != nil {
			return err
		}
	}
	for _, f := range p.flags {
		if err := tx.PutFlag(ctx, f); err != nil {
			return err
		}
	}
	for _, key := range p.deletedFlags {
		if err := tx.DeleteFlag(ctx, key); err != nil {
			return err
		}
	}
	for _, key := range p.deletedSegments {
		if err := tx.DeleteSegment(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
