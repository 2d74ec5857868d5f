package service

import (
	"context"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// AuthenticationsKey represents the authentications in code that maps namespace keys to
// revisions. The parentheses make it an invalid namespace key. A request may contain it
// nevertheless, so every method of [Store] treats it as a namespace that does not exist.
const AuthenticationsKey = "(authentications)"

// ErrAdditions is returned by [Tx.PutFlag] and [Tx.PutSegment] for what instances of earlier
// releases cannot read, as long as the operator has not permitted it for the database.
var ErrAdditions = guidon.Errorf(guidon.FailedPrecondition,
	"instances of earlier releases cannot read this; once none is left, run guidon migrate additions")

// Store keeps namespaces, authentications and their change records.
//
// Its methods are safe for concurrent use. They return an *[Error] with code
// [guidon.Unavailable] if the database cannot be reached or is too busy, the context's error if
// the context ends first, and the errors named below. Any other error is internal.
type Store interface {
	// Namespaces returns all namespaces in creation order. The result may be shared and
	// must not be modified.
	Namespaces(ctx context.Context) ([]*guidon.Namespace, error)

	// Snapshot returns a state of the namespace that was current at some time after
	// d.Begun or, if that is zero, after the start of the method. It is never a mixture
	// of two states. It returns NotFound if the namespace does not exist. The caller may
	// keep the snapshot, but must not modify anything reachable from it.
	//
	// Unless d.Fresh is set, a store that is configured so may return an older state:
	// one that was current at most a fixed time before, but never one from before a
	// write that this store has acknowledged. d.MayBeStale also allows a still older one
	// while the database is unavailable. The duration is then the time since that was
	// last known to be current, also beside NotFound; otherwise it is 0.
	Snapshot(ctx context.Context, namespace string, d Demand) (*guidon.Snapshot, time.Duration, error)

	// SnapshotAt returns the state of the namespace at a moment, which must not be the
	// zero Moment. The namespace may have been deleted since. d is about the current
	// state, as in Snapshot. It returns NotFound if the namespace did not exist at the
	// moment, if the revision is in the future, or if change records that are needed have
	// been deleted. If the state takes much memory, admit, which may be nil, is called
	// before.
	SnapshotAt(ctx context.Context, namespace string, at Moment, d Demand, admit Admit) (*guidon.Snapshot, error)

	// Update runs fn with exclusive access to one namespace, which need not exist. It
	// commits the writes of fn together with the next revision and the change records,
	// or nothing at all.
	//
	// fn may run more than once if the database requires a retry, so it must not keep
	// anything from an earlier run or have other side effects. It must use the ctx that
	// it is given. If fn returns an error, Update returns that error and stores nothing.
	// If fn writes nothing, no revision is used.
	//
	// w.By is the author of the change records. If w.IfMatch is set and is not the
	// current revision, Update returns FailedPrecondition without running fn. The result
	// is the current revision, also if fn failed; it is 0 if the namespace never existed
	// or the revision is not known.
	Update(ctx context.Context, namespace string, w Write, fn func(ctx context.Context, tx Tx) error) (int64, error)

	// Authentications returns all stored authentications. Snapshot's rules for older
	// states apply. next is a hint: the namespace that will be read next, or "". A store
	// may find out about both with one query.
	Authentications(ctx context.Context, d Demand, next string) (*AuthenticationSet, time.Duration, error)

	// UpdateAuthentications is Update for the authentications, which have their own
	// revision. It ignores w.IfMatch.
	UpdateAuthentications(ctx context.Context, w Write, fn func(ctx context.Context, tx AuthenticationTx) error) error

	ChangeLog
}

// ChangeLog reads change records.
type ChangeLog interface {
	// Changes returns the change records that the query selects, newest first unless
	// query.After is set. A store may return fewer than the limit if they are
	// large, but at least one if any is selected.
	Changes(ctx context.Context, query change.Query) ([]*change.Record, error)

	// SearchChanges returns change records by their message and reason, newest first, and
	// the position before which the search must be continued; that is zero if there is
	// nothing left. It examines a limited number of records, so it may return none although
	// there are more.
	SearchChanges(ctx context.Context, search change.Search) ([]*change.Record, guidon.Position, error)

	// AllChanges returns change records of all namespaces, newest first, and the place before
	// which there may be more; that is zero if there are none. It examines a limited number of
	// records, so it may return none although there are more.
	AllChanges(ctx context.Context, feed change.Feed) ([]*change.Record, change.Place, error)

	// LatestChanges returns the newest change record of each of the flags or segments with
	// the keys, in any order, and without the bodies of large records. It leaves out
	// objects that do not exist, and those whose record has been deleted. The kind must be
	// KindFlag or KindSegment.
	LatestChanges(ctx context.Context, namespace string, kind change.Kind, keys []string) ([]*change.Record, error)
}

// Mirror lets the caller of an update keep its copy of a namespace, or of the
// authentications, up to date without reading the state that it wrote. D is
// [guidon.SnapshotDelta] or [AuthenticationDelta].
type Mirror[D any] interface {
	// Held returns the revision of the copy, or false if there is none. It is called
	// inside the transaction, once for each run.
	Held() (guidon.Revision, bool)
	// Unchanged is called before the update returns if it fails without having tried to
	// commit anything.
	Unchanged()
	// Advance is called after the commit and before the update returns, in the order of
	// the commits of the process. The deltas lead from the given revision to the
	// committed state. The zero revision means the state without any objects. If there
	// are no deltas, the given revision was current during the transaction. Advance is
	// not called if the update fails or if no deltas lead from the copy to the new state.
	Advance(from guidon.Revision, deltas ...D)
}

// Tx reads and writes one namespace inside [Store.Update]. The objects that it returns
// belong to the caller, which may modify them and put them back. A Tx is not safe for
// concurrent use and must not be used after fn has returned.
type Tx interface {
	// Now returns the time of the transaction, in UTC and whole microseconds. It does
	// not change.
	Now() time.Time

	// Revision returns the revision of the namespace before the transaction, or 0 if it
	// never existed.
	Revision(ctx context.Context) (int64, error)
	// LastChange returns the newest change record of the flag or segment from before the
	// transaction, without the bodies. It returns nil if there never was such an object.
	// The record of a deleted object is that of its deletion. The kind must be KindFlag or
	// KindSegment.
	LastChange(ctx context.Context, kind change.Kind, key string) (*change.Record, error)

	// DeletedSince returns the positions in lists, at the revision, of the flags and segments
	// that were deleted after it. A position that is not known is zero.
	DeletedSince(ctx context.Context, revision int64) (map[change.Object]guidon.Position, error)

	// Namespace returns the namespace. It returns NotFound if it does not exist; all messages
	// of NotFound are those of contract 5.3.
	Namespace(ctx context.Context) (*guidon.Namespace, error)
	// PutNamespace creates or replaces the namespace.
	PutNamespace(ctx context.Context, namespace *guidon.Namespace) error
	// DeleteNamespace deletes the namespace with its flags and segments. Nothing may be
	// put afterwards in the same transaction.
	DeleteNamespace(ctx context.Context) error

	// Flag returns the flag. It returns NotFound if it does not exist, and the error of
	// [guidon.Unreadable] if it is unreadable.
	Flag(ctx context.Context, key string) (*guidon.Flag, error)
	// Flags returns all flags in creation order, also those that are unreadable.
	Flags(ctx context.Context) ([]*guidon.Flag, error)
	// LinkedFlags returns the flags that require others, or whose rules do, in creation order, without
	// those that are unreadable.
	LinkedFlags(ctx context.Context) ([]*guidon.Flag, error)
	// FlagKeys returns the keys of all flags in creation order.
	FlagKeys(ctx context.Context) ([]string, error)
	// PutFlag creates or replaces the flag with its key. It returns NotFound if the
	// namespace does not exist, TooLarge if the stored form exceeds [MaxObjectSize], and the
	// error of [guidon.Unreadable] if the flag or the one that it replaces is unreadable. It
	// returns ErrAdditions if [guidon.Flag.Additions] and the database does not permit them.
	// It converts the times of the flag to the stored form, UTC and whole microseconds.
	// Flag.Created is not set. If the flag does not exist and Flag.Created is not zero, the
	// flag returns to that position, which must be one that it had. The flag is not kept.
	PutFlag(ctx context.Context, flag *guidon.Flag) error
	// DeleteFlag deletes the flag. It is not an error if it does not exist.
	DeleteFlag(ctx context.Context, key string) error

	// Segment returns the segment, with the errors of Flag.
	Segment(ctx context.Context, key string) (*guidon.Segment, error)
	// Segments returns all segments in creation order, also those that are unreadable.
	Segments(ctx context.Context) ([]*guidon.Segment, error)
	// SegmentKeys returns the keys of all segments in creation order.
	SegmentKeys(ctx context.Context) ([]string, error)
	// PutSegment creates or replaces the segment with its key, as PutFlag does.
	PutSegment(ctx context.Context, segment *guidon.Segment) error
	// DeleteSegment deletes the segment. It is not an error if it does not exist.
	DeleteSegment(ctx context.Context, key string) error
}

// AuthenticationTx reads and writes authentications inside
// [Store.UpdateAuthentications]. The rules of [Tx] apply.
type AuthenticationTx interface {
	// Now returns the time of the transaction, in UTC and whole microseconds. It does
	// not change.
	Now() time.Time
	// Authentication returns the authentication with the id. It returns NotFound if it
	// does not exist.
	Authentication(ctx context.Context, id string) (*Authentication, error)
	// First reports whether no authentication was stored before this transaction, not
	// even one that has been deleted since.
	First() bool
	// OfOwner returns the authentications of the owner in creation order; see
	// [Authentication.Owner].
	OfOwner(ctx context.Context, owner string) ([]*Authentication, error)
	// OfMethod returns the authentications of the method in creation order.
	OfMethod(ctx context.Context, method Method) ([]*Authentication, error)
	// Expired returns at most limit authentications of the method that expired before
	// the given time, the earliest first.
	Expired(ctx context.Context, method Method, before time.Time, limit int) ([]*Authentication, error)
	// PutAuthentication creates or replaces the authentication with its id. It returns
	// InvalidArgument if another one has the same token hash.
	PutAuthentication(ctx context.Context, authentication *Authentication) error
	// DeleteAuthentication deletes the authentication. It is not an error if it does not
	// exist.
	DeleteAuthentication(ctx context.Context, id string) error

	// Bindings returns all bindings in creation order.
	Bindings(ctx context.Context) (*Bindings, error)
	// PutBinding creates the binding or replaces the one with its id.
	PutBinding(ctx context.Context, binding *Binding) error
	// DeleteBinding deletes the binding. It is not an error if it does not exist.
	DeleteBinding(ctx context.Context, id string) error

	// Webhooks returns all webhooks in creation order, with their private parts.
	Webhooks(ctx context.Context) ([]*Webhook, error)
	// PutWebhook creates the webhook or replaces the one with its id. The change record has
	// nothing of its private part.
	PutWebhook(ctx context.Context, webhook *Webhook) error
	// DeleteWebhook deletes the webhook with its failures and deliveries. It is not an error if
	// it does not exist.
	DeleteWebhook(ctx context.Context, id string) error
	// ForgetFailures makes the webhook try again at once whatever it has failed to deliver.
	ForgetFailures(ctx context.Context, id string) error

	// Spend records that something with the digest is used, to be remembered until the given
	// time. It returns InvalidArgument if that is recorded already.
	Spend(ctx context.Context, digest string, until time.Time) error
}

// MaxObjectSize is the maximum size of the stored form of a flag or segment, in bytes.
// It allows several attachments of the maximum size and is below the packet limits of
// the databases.
const MaxObjectSize = 16 << 20
