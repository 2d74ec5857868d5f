package guidon

import (
	"encoding/json"
	"math"
	"time"
)

// Kind says what a change record is about.
type Kind string

// The kinds of change records.
const (
	KindNamespace      Kind = "namespace"
	KindFlag           Kind = "flag"
	KindSegment        Kind = "segment"
	KindAuthentication Kind = "authentication"
)

// Action says what was done.
type Action string

// The actions of change records.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// Change is the record of one object's change. Replaying the records of a
// namespace in order of revision and sequence gives its state.
type Change struct {
	Namespace string          `json:"namespace"`
	Revision  int64           `json:"revision"`
	Sequence  int32           `json:"sequence"` // from 0 within one revision
	Kind      Kind            `json:"kind"`
	Key       string          `json:"key"` // of the flag, segment or namespace; id of the authentication
	Action    Action          `json:"action"`
	Actor     Actor           `json:"actor"`
	At        time.Time       `json:"at"`
	RequestID string          `json:"requestId,omitempty"`
	Before    json.RawMessage `json:"before,omitempty"` // the stored object before, nothing on create
	After     json.RawMessage `json:"after,omitempty"`  // the stored object after, nothing on delete
}

// ChangeQuery selects change records of one namespace, or those of the
// authentications, which have none, when Kind is KindAuthentication. Zero fields
// do not restrict.
type ChangeQuery struct {
	Namespace string
	Kind      Kind
	Key       string
	Actor     string     // an actor's id
	Since     *time.Time // inclusive; nil is the beginning
	Until     *time.Time // exclusive; nil is the end
	Before    ChangeCursor
	After     ChangeCursor // where set, the records come oldest first
	Limit     int          // at most this many records, and fewer where they are large; required
}

// ChangeCursor is a place in the change log, that of a record. The records before
// it are older, those after it newer; the zero cursor is no place.
type ChangeCursor struct {
	Revision int64
	Sequence int32
}

// CursorAfter returns the place behind the last record of the revision, which is
// the beginning of the log for zero.
func CursorAfter(revision int64) ChangeCursor {
	return ChangeCursor{Revision: revision, Sequence: math.MaxInt32}
}

// Cursor returns the place of the record.
func (c *Change) Cursor() ChangeCursor {
	return ChangeCursor{Revision: c.Revision, Sequence: c.Sequence}
}
