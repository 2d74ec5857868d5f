package guidon

import (
	"context"
	"errors"
	"fmt"
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

// Known reports whether the mode is one of the constants.
func (m ImportMode) Known() bool { return int(m) < len(importModeNames) }

// String returns a word or two for messages.
func (m ImportMode) String() string {
	if m.Known() {
		return importModeNames[m]
	}
	return fmt.Sprintf("%d", uint8(m))
}

// ImportResult says what an import did or, on a dry run, would do.
type ImportResult struct {
	Namespace string
	Revision  int64 // current after the import
	DryRun    bool
	Changes   []*ImportChange // in the order of the change records
	Unchanged int             // flags and segments that were as the document has them
	Skipped   []string        // "flag/<key>" and "segment/<key>", left alone by ImportSkipExisting
}

// maxDescribed is how many flags and segments a document may have for its import to
// tell what each was and has become. The change log tells that in any case.
const maxDescribed = 1000

// ImportChange is what an import does to one object. Before and After are
// documents of that object alone, nil where it does not exist, and both nil in the
// result of a large import that was no dry run.
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
	if err := checkEnum("mode", mode); err != nil {
		return nil, err
	}
	if key := doc.Namespace.Key; key != "" && key != namespace {
		return nil, Errorf(InvalidArgument, "document of namespace %q cannot be imported into namespace %q", key, namespace)
	}
	call := CallFrom(ctx)
	ctx = WithCall(ctx, call) // the store reports the revision in it
	var result *ImportResult
	err := s.update(ctx, namespace, func(ctx context.Context, tx Tx) error {
		i := &importing{
			tx: tx, mode: mode, now: tx.Now(), result: &ImportResult{Namespace: namespace},
			described: dryRun || len(doc.Flags)+len(doc.Segments) <= maxDescribed,
		}
		result = i.result
		if err := i.run(ctx, doc.withNamespace(namespace)); err != nil {
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
	result.DryRun, result.Revision = dryRun, call.Revision
	return result, nil
}

// withNamespace returns the document with the key that it is imported under.
func (d *Document) withNamespace(key string) *Document {
	out := *d
	out.Namespace.Key = key
	return &out
}
