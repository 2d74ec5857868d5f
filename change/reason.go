package change

import (
	"fmt"
	"slices"
)

// ReasonKind is the kind of a write that did more than change one object.
type ReasonKind string

// Kinds of reasons.
const (
	ReasonImport    ReasonKind = "import"
	ReasonPromotion ReasonKind = "promotion"
	ReasonRestore   ReasonKind = "restore"
	ReasonUndo      ReasonKind = "undo"
)

// Known reports whether the kind is one of those above.
func (k ReasonKind) Known() bool {
	return slices.Contains([]ReasonKind{ReasonImport, ReasonPromotion, ReasonRestore, ReasonUndo}, k)
}

// Reason says which kind of write a change was part of. It is zero for a direct change.
type Reason struct {
	Kind      ReasonKind `json:"kind,omitempty"`
	Namespace string     `json:"namespace,omitempty"` // that a promotion came from
	Revision  int64      `json:"revision,omitempty"`  // promoted from, restored, or undone; 0 if there is none
	Last      int64      `json:"last,omitempty"`      // the last of several revisions that were undone
}

// ImportReason returns the reason of an import.
func ImportReason() Reason { return Reason{Kind: ReasonImport} }

// PromotionReason returns the reason of a promotion from the namespace at the revision.
func PromotionReason(namespace string, revision int64) Reason {
	return Reason{Kind: ReasonPromotion, Namespace: namespace, Revision: revision}
}

// RestoreReason returns the reason of restoring the state at the revision.
func RestoreReason(revision int64) Reason { return Reason{Kind: ReasonRestore, Revision: revision} }

// UndoReason returns the reason of undoing the changes of the revisions from first to
// last, which may be the same.
func UndoReason(first, last int64) Reason {
	r := Reason{Kind: ReasonUndo, Revision: first}
	if last > first {
		r.Last = last
	}
	return r
}

// String returns the reason in words, such as "promotion from staging@412". It is empty
// for the zero Reason.
func (r Reason) String() string {
	switch {
	case r.Revision == 0:
	case r.Kind == ReasonPromotion:
		return fmt.Sprintf("promotion from %s@%d", r.Namespace, r.Revision)
	case r.Kind == ReasonRestore:
		return fmt.Sprintf("restore to %d", r.Revision)
	case r.Kind == ReasonUndo && r.Last != 0:
		return fmt.Sprintf("undo of %d to %d", r.Revision, r.Last)
	case r.Kind == ReasonUndo:
		return fmt.Sprintf("undo of %d", r.Revision)
	}
	return string(r.Kind)
}
