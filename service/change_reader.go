package service

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// ChangeReaders keeps the readers of the change log: their names, and a cursor of each in
// each namespace. The authentications count as the namespace [AuthenticationsKey].
//
// No record is deleted before all registered readers have passed it. A reader gets each
// record at least once, and those of a namespace in order, if one process at a time does
// this: find a namespace with [ChangeReaders.ChangedNamespaces], read records with
// [Store.Changes], process them, and then call [ChangeReaders.AdvanceReader].
//
// If only the log is restored from a backup, a cursor may be in a history that no longer
// exists. It then counts as being at the beginning of the log.
//
// The methods return NotFound for a reader that is not registered, and otherwise the errors
// of [Store] and those named below.
type ChangeReaders interface {
	// RegisterReader registers a reader, which starts after the records that were written
	// before. It does nothing if a reader with the name is registered. It returns
	// InvalidArgument for a name that [CheckReaderName] rejects, and FailedPrecondition if
	// there are [MaxChangeReaders] already.
	RegisterReader(ctx context.Context, name string) error
	// RemoveReader removes a reader with its cursors.
	RemoveReader(ctx context.Context, name string) error
	// Readers returns all readers, sorted by name, as of one moment.
	Readers(ctx context.Context) ([]ChangeReader, error)
	// ChangedNamespaces returns the namespaces with records that the reader has not
	// passed, including deleted ones, in the order of their keys. It returns at most
	// limit of those whose keys are after the given key; the first page has "".
	ChangedNamespaces(ctx context.Context, reader, after string, limit int) ([]ChangedNamespace, error)
	// AdvanceReader moves the reader's cursor in the record's namespace to the record,
	// which must be one that Changes returned, and after from. It returns
	// FailedPrecondition, and moves nothing, if the cursor is not at from, because
	// another process has moved it, or if the log no longer has the record, because a
	// backup was restored. The caller must then continue from ChangedNamespace.Position.
	AdvanceReader(ctx context.Context, reader string, from guidon.Position, past *change.Record) error
	// RewindReader moves the reader's cursor in the namespace back to before the revision, so
	// that its records are the next. A cursor that is before it already stays. It returns
	// InvalidArgument if the namespace has no record of the revision or of a later one.
	RewindReader(ctx context.Context, reader, namespace string, revision int64) error
}

// WebhookReader returns the name of the reader of a webhook.
func WebhookReader(id string) string { return webhookReaders + id }

// IsWebhookReader reports whether the name is that of the reader of a webhook.
func IsWebhookReader(name string) bool { return strings.HasPrefix(name, webhookReaders) }

const webhookReaders = "webhook:"

// ChangeReader is a registered reader of the change log.
type ChangeReader struct {
	Name         string
	RegisteredAt time.Time
	AdvancedAt   time.Time // when a cursor was moved last, or RegisteredAt
	Lag          ReaderLag
}

// ReaderLag is how far a reader is behind. It is zero if the reader has passed all records.
type ReaderLag struct {
	Namespaces int       // with records that the reader has not passed
	Revisions  int64     // that the reader has not passed completely
	Since      time.Time // when the oldest of the records was written
}

// ChangedNamespace is a namespace with records that a reader has not passed.
type ChangedNamespace struct {
	Key       string
	Position  guidon.Position // of the reader's cursor; change.After(0) is the beginning of the log
	Revisions int64           // that the reader has not passed completely
	Since     time.Time       // when the oldest of the records was written
}

// Unread returns the query for the first records that the reader has not passed.
func (n ChangedNamespace) Unread(limit int) change.Query {
	if n.Key == AuthenticationsKey {
		return change.Query{Global: true, After: n.Position, Limit: limit}
	}
	return change.Query{Namespace: n.Key, After: n.Position, Limit: limit}
}

// Limits of the readers of the change log.
const (
	MaxChangeReaders    = 100
	maxReaderNameLength = 100
)

var readerNamePattern = regexp.MustCompile(`^[a-z0-9][-_.:a-z0-9]*$`)

// CheckReaderName returns InvalidArgument unless the name may be that of a reader: 1 to 100
// lower-case letters, digits and the characters "-", "_", "." and ":", of which the first
// is a letter or digit.
func CheckReaderName(name string) error {
	switch {
	case name == "":
		return emptyField("name")
	case len(name) > maxReaderNameLength:
		return invalidField("name", fmt.Sprintf("must not be longer than %d characters", maxReaderNameLength))
	case !readerNamePattern.MatchString(name):
		return invalidField("name", `must consist of lower-case letters, digits, "-", "_", "." and ":", and start with a letter or digit`)
	}
	return nil
}
