package service

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/internal/lists"
)

// ImportMode is how an import treats flags and segments that exist already.
type ImportMode uint8

// Import modes.
const (
	ImportCreate       ImportMode = iota // an existing object fails the import
	ImportSkipExisting                   // existing objects are not changed
	ImportUpdate                         // existing objects are updated to match the document
	ImportReplace                        // ImportUpdate, and objects missing from the document are deleted
)

var importModeNames = []string{"create", "skip existing", "update", "replace"}

// Known reports whether the mode is one of the constants.
func (m ImportMode) Known() bool { return int(m) < len(importModeNames) }

// String returns the name of the mode for messages.
func (m ImportMode) String() string {
	if m.Known() {
		return importModeNames[m]
	}
	return fmt.Sprintf("%d", uint8(m))
}

// WriteResult describes the changes that an edit or an import made or, in a dry run of an import,
// would make.
type WriteResult struct {
	Namespace string
	Revision  int64 // current after the call
	DryRun    bool
	Changes   []*ObjectChange // in the order of the change records
	Unchanged int             // number of flags and segments that already were as requested
	Skipped   []string        // "flag/<key>" and "segment/<key>", not changed because of ImportSkipExisting
}

// maxDescribed is the number of flags and segments in a document above which the result
// omits their states before and after the import. The change log always has them.
const maxDescribed = 1000

// ObjectChange is the change of one object. For an import, Before and After are documents of
// that object alone, or nil if it does not exist. Both are nil if the document has more
// than 1000 flags and segments, except in a dry run.
type ObjectChange struct {
	Kind   change.Kind
	Key    string
	Action change.Action
	Before *Document
	After  *Document
}

// Import imports the document into the namespace in one transaction. A namespace that
// does not exist is created. Only the default one is neither created nor modified
// (contract 13.2). ImportUpdate and ImportReplace set the name and the settings of an
// existing namespace, unless they are empty in the document. Objects that already match
// the document are not written, and an import that changes nothing uses no revision. A
// dry run makes the same checks and reports the same changes, but stores nothing.
//
// Import returns InvalidArgument with the problems of the document, as
// [Document.Validate] does, although rules may also refer to stored segments. It returns
// InvalidArgument too if an object exists already and the mode is ImportCreate, NotFound
// if the default namespace does not exist, and TooLarge if a flag or segment is too
// large to be stored. It returns PermissionDenied if the import creates or changes the
// namespace itself, and the caller may not. doc is not modified.
func (s *Service) Import(
	ctx context.Context, w Write, namespace string, doc *Document, mode ImportMode, dryRun bool,
) (*WriteResult, int64, error) {
	namespace = guidon.NamespaceKey(namespace)
	if err := checkEnum("mode", mode); err != nil {
		return nil, 0, err
	}
	if key := doc.Namespace.Key; key != "" && key != namespace {
		return nil, 0, guidon.Errorf(guidon.InvalidArgument, "document of namespace %q cannot be imported into namespace %q", key, namespace)
	}
	if w.Reason == (change.Reason{}) {
		w.Reason = change.ImportReason()
	}
	w.DryRun = w.DryRun || dryRun
	var result *WriteResult
	revision, err := s.update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		i := &documentImport{objectWrite: newObjectWrite(tx, namespace), by: w.By, mode: mode}
		i.skip, i.described = mode == ImportSkipExisting, w.DryRun || len(doc.Flags)+len(doc.Segments) <= maxDescribed
		result, i.result.DryRun = i.result, w.DryRun
		return i.run(ctx, doc.withNamespace(namespace))
	})
	return result.at(revision, err)
}

// withNamespace returns a copy of the document with the key of the target namespace.
func (d *Document) withNamespace(key string) *Document {
	out := *d
	out.Namespace.Key = key
	return &out
}

// documentImport is the import of a document into one namespace. It makes two passes: the
// first finds all problems, the second changes one object at a time. So it needs no
// second copy of a large document in memory.
type documentImport struct {
	*objectWrite
	by   Caller
	mode ImportMode

	// The state before the import, without the content of flags and segments.
	existing              *guidon.Namespace // nil if it does not exist
	flagKeys, segmentKeys []string          // in creation order

	// referable has the segments that flags may refer to after the import: those of the
	// document and, unless the mode is ImportReplace, those that exist already.
	referable map[string]bool
}

func (i *documentImport) run(ctx context.Context, d *Document) error {
	if err := i.readState(ctx); err != nil {
		return err
	}
	if i.existing == nil { // before all other checks
		if err := mayPutNamespace(i.by, i.namespace); err != nil {
			return err
		}
	}
	i.referable = map[string]bool{}
	if i.mode != ImportReplace {
		i.referable = setOf(i.segmentKeys)
	}
	if err := d.check(i.referable); err != nil {
		return err
	}
	if i.mode == ImportCreate {
		if err := i.mustAllBeNew(d); err != nil {
			return err
		}
	}
	// All flags that exist when segments are deleted are those of the document, which has
	// been checked. So they need not be read again.
	i.used = i.referable
	return i.write(ctx, d)
}

// write makes the changes in the order in which they must be made.
func (i *documentImport) write(ctx context.Context, d *Document) error {
	if err := i.writeNamespace(ctx, d.Namespace); err != nil {
		return err
	}
	for _, g := range d.Segments {
		if err := putObject(ctx, i.objectWrite, segmentObjects, normalSegment(g, &problems{}, nil)); err != nil {
			return err
		}
	}
	for _, f := range d.Flags {
		if err := putObject(ctx, i.objectWrite, flagObjects, normalFlag(f, &problems{}, i.referable)); err != nil {
			return err
		}
	}
	if i.mode != ImportReplace {
		return nil
	}
	if err := deleteOthers(ctx, i, flagObjects, i.flagKeys, d.flagKeys()); err != nil {
		return err
	}
	return deleteOthers(ctx, i, segmentObjects, i.segmentKeys, i.referable)
}

// deleteOthers deletes the objects that are not to be kept.
func deleteOthers[O any](ctx context.Context, i *documentImport, k *objectKind[O], keys []string, kept map[string]bool) error {
	for _, key := range keys {
		if kept[key] {
			continue
		}
		if err := deleteObject(ctx, i.objectWrite, k, key); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) flagKeys() map[string]bool {
	return setOf(lists.Map(d.Flags, func(f *guidon.Flag) string { return f.Key }))
}

func (i *documentImport) writeNamespace(ctx context.Context, want DocumentNamespace) error {
	put := wantedNamespace(i.existing, want, i.mode, i.now)
	if put == nil {
		return nil
	}
	c := &ObjectChange{Kind: change.KindNamespace, Key: put.Key, Action: change.ActionCreate}
	if i.existing != nil {
		if err := mayPutNamespace(i.by, put.Key); err != nil {
			return err
		}
		c.Action = change.ActionUpdate
	}
	if i.described {
		c.Before = DocumentOf(put.Key, change.Objects{Namespace: i.existing})
		c.After = DocumentOf(put.Key, change.Objects{Namespace: put})
	}
	i.result.Changes = append(i.result.Changes, c)
	return i.apply(ctx, change.Patch{Put: change.Objects{Namespace: put}})
}

// wantedNamespace returns the namespace that an import creates or changes, or nil if it
// leaves it alone. have is nil if the namespace does not exist.
func wantedNamespace(have *guidon.Namespace, want DocumentNamespace, mode ImportMode, now time.Time) *guidon.Namespace {
	if want.Key == guidon.DefaultNamespace {
		return nil
	}
	if have == nil {
		created := want.merge(guidon.Namespace{Key: want.Key, Name: want.Key, CreatedAt: now, UpdatedAt: now})
		return &created
	}
	if mode != ImportUpdate && mode != ImportReplace {
		return nil
	}
	updated := want.merge(*have)
	if updated == *have {
		return nil
	}
	updated.UpdatedAt = now
	return &updated
}

// mayPutNamespace returns PermissionDenied unless the caller may create and change the
// namespace itself.
func mayPutNamespace(by Caller, namespace string) error {
	if a := by.Authentication; a != nil && !a.May(RoleAdmin, namespace) {
		return Refusal(RoleAdmin, namespace)
	}
	return nil
}

func (i *documentImport) readState(ctx context.Context) (err error) {
	i.existing, err = i.tx.Namespace(ctx)
	i.stored = map[change.Kind]map[string]bool{}
	if errors.Is(err, guidon.NotFound) && i.namespace != guidon.DefaultNamespace {
		return nil
	}
	if err != nil {
		return err
	}
	if i.flagKeys, err = i.tx.FlagKeys(ctx); err != nil {
		return err
	}
	if i.segmentKeys, err = i.tx.SegmentKeys(ctx); err != nil {
		return err
	}
	i.stored[change.KindFlag], i.stored[change.KindSegment] = setOf(i.flagKeys), setOf(i.segmentKeys)
	return nil
}

func setOf(keys []string) map[string]bool {
	set := make(map[string]bool, len(keys))
	for _, key := range keys {
		set[key] = true
	}
	return set
}

// mustAllBeNew returns the error of the first object that exists already, in the order
// of contract 13.4.
func (i *documentImport) mustAllBeNew(d *Document) error {
	for _, f := range d.Flags {
		if i.stored[change.KindFlag][f.Key] {
			return notUnique("flag", d.Namespace.Key, f.Key)
		}
	}
	for _, g := range d.Segments {
		if i.stored[change.KindSegment][g.Key] {
			return notUnique("segment", d.Namespace.Key, g.Key)
		}
	}
	return nil
}
