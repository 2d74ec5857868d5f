// Package change describes changes of namespaces and authentications: the records of the
// change log, who made them, and where they are in it; and patches, which describe changes
// to be made. Pure functions compare states and objects, put differences into words, merge
// versions of an object, undo changes, and plan them.
package change

import (
	"encoding/json"
	"math"
	"time"

	"github.com/guidonhq/guidon"
)

// Kind is the kind of object that a change record describes.
type Kind string

// Kinds of change records.
const (
	KindNamespace      Kind = "namespace"
	KindFlag           Kind = "flag"
	KindSegment        Kind = "segment"
	KindAuthentication Kind = "authentication"
	KindBinding        Kind = "binding"
	KindWebhook        Kind = "webhook"
)

// Global reports whether objects of the kind belong to no namespace.
func (k Kind) Global() bool { return k == KindAuthentication || k == KindBinding || k == KindWebhook }

// Action is the action of a change on its object.
type Action string

// Actions of change records.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// Record is the change record of one object. Replaying the records of a namespace in
// order of revision and sequence gives its state.
type Record struct {
	Namespace string          `json:"namespace"`
	Revision  int64           `json:"revision"`
	Stamp     int64           `json:"-"`        // of the revision; see guidon.Revision
	Sequence  int32           `json:"sequence"` // from 0 within one revision
	Kind      Kind            `json:"kind"`
	Key       string          `json:"key"` // of the flag, segment or namespace; id of the authentication, binding or webhook
	Action    Action          `json:"action"`
	Actor     Actor           `json:"actor"`
	At        time.Time       `json:"at"`
	RequestID string          `json:"requestId,omitempty"`
	Message   string          `json:"message,omitempty"` // why the change was made, in the words of the caller
	Reason    Reason          `json:"reason,omitzero"`   // the kind of write that it was part of
	Address   string          `json:"address,omitempty"` // of the caller, if it is recorded; only of authentications and bindings
	Before    json.RawMessage `json:"before,omitempty"`  // the stored object before; nil on create
	After     json.RawMessage `json:"after,omitempty"`   // the stored object after; nil on delete
}

// Query selects change records of one namespace or, if Global is set or the Kind is
// global, those of authentications, bindings and webhooks; Namespace is then ignored. Other zero
// fields do not restrict the selection.
type Query struct {
	Namespace string
	Global    bool
	Kind      Kind
	Key       string
	Actor     string          // an actor's id
	Since     *time.Time      // inclusive; nil means the beginning
	Until     *time.Time      // exclusive; nil means the end
	First     int64           // the first revision; 0 means the beginning
	Last      int64           // the last revision; 0 means the end
	Before    guidon.Position // exclusive
	After     guidon.Position // exclusive; if set, the records are sorted oldest first
	Limit     int             // at most this many records, fewer if they are large; required

	// Complete makes the query fail with NotFound if records after After may have been
	// deleted. A retention keeps the newest record of each object, so the others show no gap.
	Complete bool
}

// Search selects change records by why they were made. Zero fields do not restrict the
// selection. The records are sorted newest first; After of the Query is not used.
type Search struct {
	Query
	Message string     // part of the message, whatever the case of its letters
	Reason  ReasonKind // of the reason
}

// After returns the position after the last record of the revision. For zero
// that is the beginning of the log.
func After(revision int64) guidon.Position {
	return guidon.Position{Revision: revision, Sequence: math.MaxInt32}
}

// Cursor returns the position of the record.
func (c *Record) Cursor() guidon.Position {
	return guidon.Position{Revision: c.Revision, Sequence: c.Sequence}
}

// Actor is the author of a change.
type Actor struct {
	ID     string `json:"id"`               // stable: "token:<uuid>", "anonymous", "cli:<user>", "system:<task>"
	Name   string `json:"name,omitempty"`   // for display
	Method string `json:"method,omitempty"` // wire name of the Method of the credential
}

// Anonymous is the actor of calls without a credential.
var Anonymous = Actor{ID: "anonymous"}
